// Imports through a running server: the same data as an import of one's own, in several requests,
// refused rows with their places, and what goes wrong on the way. And the bar on a terminal.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ProgressBar } from '../../server/terminal/progress-bar.js';
import { makeFolder, writeProject } from '../support/project.js';
import { commandHere } from '../support/server/command-here.js';
import { type Server, startServer } from '../support/server/server.js';

const source = `
N::Person { UNIQUE INDEX name: String, note: String }
E::Knows { From: Person, To: Person }
QUERY people() => p <- N<Person> RETURN p::COUNT
QUERY friends(name: String) => p <- N<Person>({ name: name })::Out<Knows> RETURN p::{name}
`;
const key = 'k'.repeat(32);
const servers: Server[] = [];

afterAll(async () => {
  for (const server of servers) await server.stop().catch(() => undefined);
});

async function start(): Promise<Server> {
  const server = await startServer({
    sources: { 'main.hx': source },
    config: { 'auth.api_key': key, 'storage.min_free': '1MiB' },
  });
  servers.push(server);
  return server;
}

const urlOf = ({ port }: Server): string => `http://127.0.0.1:${port}`;

/** More than one request takes: they hold some 8 MB each. */
function rows(count: number): string {
  const lines: object[] = [];
  for (let i = 0; i < count; i++) {
    lines.push({
      node: 'Person',
      id: `p${i}`,
      properties: { name: i === 7 ? 'P6' : `P${i}`, note: 'x'.repeat(1000) },
    });
    if (i > 0) lines.push({ edge: 'Knows', from: `p${i - 1}`, to: `p${i}` });
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

describe('import through a server', () => {
  it('loads files in several requests, and reports the position of refused rows', async () => {
    const server = await start();
    const folder = makeFolder();
    const count = 20_000;
    writeProject(folder, {
      sources: { 'main.hx': source, 'rows.ndjson': rows(count) },
      config: {},
    });
    const file = join(folder, 'rows.ndjson');
    const argv = ['import', folder, file, '--url', urlOf(server), '--key', key];
    const done = await commandHere(argv, folder);
    // One name is taken, so its edges have no end.
    expect(done.stdout).toContain(`imported ${count - 1} nodes, ${count - 3} edges, 0 vectors`);
    expect(done.code).toBe(1);
    const refused = readFileSync(`${file}.rejects.ndjson`, 'utf8').trim().split('\n');
    const places = refused.map((line) => JSON.parse(line) as { code: string; line: number });
    expect(places.map(({ code, line }) => [line, code])).toEqual([
      [14, 'UNIQUE_VIOLATION'],
      [15, 'NO_VALUE_FOUND'],
      [17, 'NO_VALUE_FOUND'],
    ]);
    const ask = async (name: string, body: object): Promise<unknown> => {
      const headers = { 'x-api-key': key, 'Content-Type': 'application/json' };
      const request = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(`${urlOf(server)}/${name}`, request)).json();
    };
    expect(await ask('people', {})).toEqual({ p: count - 1 });
    expect(await ask('friends', { name: `P${count - 2}` })).toEqual({
      p: [{ name: `P${count - 1}` }],
    });
  });

  it('says what is wrong with the server or with the key', async () => {
    const server = await start();
    const folder = makeFolder();
    writeProject(folder, {
      sources: { 'main.hx': source, 'rows.ndjson': rows(3) },
      config: {},
    });
    const argv = ['import', folder, join(folder, 'rows.ndjson'), '--url'];
    const run = (...more: string[]) => commandHere([...argv, ...more], folder);
    const wrongKey = await run(urlOf(server), '--key', 'wrong');
    expect(wrongKey.code).not.toBe(0);
    expect(wrongKey.stderr).toContain('INVALID_API_KEY');
    const nobody = await run('http://127.0.0.1:9', '--key', key);
    expect(nobody.code).toBe(78);
    expect(nobody.stderr).toContain('No server answers');
    const beside = await commandHere([...argv.slice(0, -1), '--data', server.data], folder);
    expect(beside.code).toBe(75);
    expect(beside.stderr).toContain(`DATA_LOCKED: `);
    expect(beside.stderr.trim()).toMatch(new RegExp(`--url ${urlOf(server)}$`));
    const good = await run(urlOf(server), '--key', key);
    expect(good.stdout).toContain('imported 3 nodes, 2 edges');
    expect(good.code).toBe(0);
  });
});

describe('progress bar', () => {
  const draw = (isTTY: boolean) => {
    const written: string[] = [];
    const out = { isTTY, write: (text: string) => written.push(text) > 0 };
    return { written, bar: new ProgressBar(out as never, 1000) };
  };

  it('draws over one line of a terminal, and takes it away', async () => {
    const { bar, written } = draw(true);
    const wait = () => new Promise((resolve) => setTimeout(resolve, 110));
    await wait();
    bar.show(250, 10);
    bar.show(260, 11);
    expect(written).toHaveLength(1);
    expect(written[0]).toMatch(
      /^\r\u001b\[K\[#{8}\.{22}\] {2}25 % {2}10 rows {2}\d+\/s {2}0:01 left$/,
    );
    await wait();
    bar.show(5000, 99);
    expect(written[1]).toContain('[##############################] 100 %  99 rows');
    bar.end();
    expect(written[2]).toBe('\r\u001b[K');
  });

  it('writes nothing anywhere else, nor when there was nothing to show', () => {
    const file = draw(false);
    file.bar.show(500, 5);
    file.bar.end();
    expect(file.written).toEqual([]);
    const idle = draw(true);
    idle.bar.end();
    expect(idle.written).toEqual([]);
  });
});
