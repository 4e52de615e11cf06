// Keys through a running server: rotated, used, noted in the audit (access.md 3.3, 9; A23, A34).
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readKeyFile } from '../../../server/auth/key-file.js';
import { rotateKey, makeKey } from '../../../server/auth/key-record.js';
import { Keyring } from '../../../server/auth/keys.js';
import { digestOf } from '../../../server/auth/credential.js';
import { changeKeyFile } from '../../../server/auth/key-file.js';
import { AuditFile } from '../../../server/telemetry/audit-file.js';
import { makeFolder } from '../../support/project.js';
import { commandHere } from '../../support/server/command-here.js';
import { type Server, startServer } from '../../support/server/server.js';

const root = 'the administrator of this test';
const sources = {
  'main.hx':
    'N::P { name: String }\nQUERY ping() => RETURN "pong"\nQUERY add(name: String) => p <- AddN<P>({name: name}) RETURN p\n',
};

const statusOf = async (server: Server, path: string, key: string, body = '{}') =>
  (await server.client.request({ path, headers: { 'x-api-key': key }, body })).status;

const textIn = (stdout: string): string => stdout.trim();

test('A23: a rotated key has two valid texts for the overlap, one id, one session, and reports its last use', async () => {
  const server = await startServer({ sources, env: { TRELLIS_API_KEY: root } });
  const keys = (...words: string[]) => commandHere(['keys', ...words, '--data', server.data]);
  try {
    const first = textIn((await keys('add', 'svc', server.project, '--role', 'write')).stdout);
    const path = join(server.data, 'keys.json');
    const { id } = readKeyFile(path)[0]!;
    await expect.poll(() => statusOf(server, 'ping', first)).toBe(200);
    const opened = await server.client.request({
      path: 'mcp/init',
      headers: { 'x-api-key': first },
      body: '{}',
    });
    expect((await keys('list', server.project)).stdout).toContain(' used never');
    const rotated = await keys('rotate', 'svc', server.project);
    const second = textIn(rotated.stdout);
    expect([second.startsWith(`tk_${id}_`), second === first]).toEqual([true, false]);
    expect(JSON.parse(readFileSync(path, 'utf8')).version).toBe(4);
    await expect.poll(() => statusOf(server, 'ping', second)).toBe(200);
    expect(await statusOf(server, 'ping', first)).toBe(200);
    // The session is the key's, whatever its text.
    const session = JSON.stringify({ connection_id: JSON.parse(opened.text), node_type: 'P' });
    expect(await statusOf(server, 'mcp/n_from_type', second, session)).toBe(200);
    expect((await keys('list', server.project)).stdout).toMatch(/ former until \d{4}-/);
    for (const overlap of ['5', 'h', '-1h', '1w']) {
      const { code, stderr } = await keys('rotate', id, server.project, '--overlap', overlap);
      expect([overlap, code, stderr]).toEqual([
        overlap,
        78,
        expect.stringMatching(/--overlap must be/),
      ]);
    }
    // No overlap: the former texts go at once, the older one stays for its own time.
    const third = textIn((await keys('rotate', id, server.project, '--overlap', '0s')).stdout);
    await expect.poll(() => statusOf(server, 'ping', third)).toBe(200);
    expect([await statusOf(server, 'ping', second), await statusOf(server, 'ping', first)]).toEqual(
      [403, 200],
    );
    await server.stop();
    const today = new Date().toISOString().slice(0, 8);
    expect((await keys('list', server.project)).stdout).toContain(` used ${today}`);
  } finally {
    await server.dispose();
  }
});

test('A23: a former text ends at its time, and a key whose rights change counts as expired one time', () => {
  const path = join(makeFolder(), 'keys.json');
  const made = makeKey({ name: 'one', role: 'read' }, new Date(0));
  const rotated = rotateKey(made.record, new Date(10_000), new Date(1_000));
  changeKeyFile(path, () => [rotated.record]);
  const keys = new Keyring(path);
  const find = (text: string, now: number) =>
    keys.find({ text, digest: digestOf(text) }, now)?.keyId;
  const { id } = made.record;
  expect([find(made.text, 9_999), find(made.text, 10_000), find(rotated.text, 99_999)]).toEqual([
    id,
    undefined,
    id,
  ]);
  // Texts of before the last two are gone.
  let { record } = rotated;
  for (let i = 0; i < 5; i++) record = rotateKey(record, new Date(20_000), new Date(1_000)).record;
  expect(record.former).toHaveLength(2);
  expect(keys.expired(1_000)).toEqual([]);
  changeKeyFile(path, () => [{ ...rotated.record, role: 'write' }]);
  keys.refresh();
  expect(keys.expired(1_000)).toEqual([id]);
  expect(keys.expired(1_000)).toEqual([]);
});

const planted = 'planted-2f6c1b';

/** What is asked, by whom, and what the audit says of it. */
const asked: [
  path: string,
  who: 'root' | 'reader' | 'wrong',
  body: string,
  told: string | undefined,
][] = [
  ['_admin/snapshot', 'root', '{}', 'admin ok'],
  ['_admin/nothing', 'root', '{}', undefined],
  ['_query', 'root', JSON.stringify({ source: `N<P>({name: "${planted}"})` }), 'admin 4'],
  ['ping?explain=1', 'root', '{}', 'admin ok'],
  ['ping?profile=1', 'reader', '{}', 'refused FORBIDDEN'],
  ['_admin/snapshot', 'reader', '{}', 'refused FORBIDDEN'],
  ['ping', 'wrong', '{}', 'refused INVALID_API_KEY'],
  ['mcp', 'wrong', '{}', 'refused INVALID_API_KEY'],
  ['add', 'root', JSON.stringify({ name: planted }), undefined],
  ['ping', 'reader', '{}', undefined],
];

test('A34: every use of the right to administer and every wrong key is one line, without a secret', async () => {
  for (const file of ['', 'audit/lines']) {
    const server = await startServer({
      sources,
      env: { TRELLIS_API_KEY: root },
      config: { 'audit.file': file, 'server.ad_hoc_queries': true },
    });
    try {
      const { stdout } = await commandHere([
        'keys',
        'add',
        'r',
        server.project,
        '--role',
        'read',
        '--data',
        server.data,
      ]);
      const texts = { root, reader: textIn(stdout), wrong: `tk_${planted}_wrong` };
      await expect.poll(() => statusOf(server, 'ping', texts.reader)).toBe(200);
      // Until it was known, the reader's key counted as guesses of this second.
      await new Promise((resolve) => setTimeout(resolve, 1100));
      const before = linesOf(server, file).length;
      for (const [path, who, body] of asked) await statusOf(server, path, texts[who], body);
      const expected = asked.flatMap(([, , , told]) => (told === undefined ? [] : [told]));
      await expect.poll(() => linesOf(server, file).length - before).toBe(expected.length);
      const lines = linesOf(server, file).slice(before);
      const told = lines.map(({ event, outcome }) => `${event} ${outcome}`);
      for (const [at, wanted] of expected.entries())
        expect(told[at]).toContain(wanted.replace(' 4', ' '));
      const text = JSON.stringify(lines);
      for (const secret of [root, planted, texts.reader]) expect(text).not.toContain(secret);
      expect(lines.map(({ who }) => who.kind)).toContain('key');
    } finally {
      await server.dispose();
    }
  }
});

interface Line {
  n?: number;
  event: string;
  outcome: string;
  who: { kind: string };
}

function linesOf(server: Server, file: string): Line[] {
  if (file === '') {
    const logged = server.stderr.split('\n').filter((line) => line.includes('"msg":"audit"'));
    return logged.map((line) => JSON.parse(line) as Line);
  }
  const path = join(server.project, file);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Line);
}

test('A34: the file of the audit counts without a gap, over rotation, restarts and torn lines', async () => {
  const path = join(makeFolder(), 'deep', 'audit');
  const errors: unknown[] = [];
  const open = () =>
    new AuditFile({ path, rotateBytes: 2_000, keep: 3, onError: (error) => errors.push(error) });
  const turn = () => new Promise((done) => setImmediate(done));
  for (let life = 0; life < 6; life++) {
    const file = open();
    for (let i = 0; i < 20; i++) {
      file.add({ event: 'admin', life, i });
      if (i % 3 === 0) await turn();
    }
    file.close();
    // Killed in the middle of a line: half of it stays.
    if (life === 2) writeFileSync(path, '{"n":9999,"t":"20', { flag: 'a' });
  }
  const names = readdirSync(join(path, '..')).sort();
  expect(names).toEqual(['audit', 'audit.1', 'audit.2', 'audit.3']);
  const lines = names.reverse().flatMap((name) =>
    readFileSync(join(path, '..', name), 'utf8')
      .split('\n')
      .filter(Boolean),
  );
  const numbers = lines.flatMap((line) =>
    line.endsWith('}') ? [JSON.parse(line).n as number] : [],
  );
  expect(numbers.at(-1)).toBe(120);
  expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i));
  expect(lines.length - numbers.length).toBeLessThanOrEqual(1);
  expect(errors).toEqual([]);
});

test.skipIf(!existsSync('/dev/full'))(
  'A34: a full disk is counted, and no request waits for it',
  async () => {
    const errors: unknown[] = [];
    const file = new AuditFile({
      path: '/dev/full',
      rotateBytes: 2 ** 30,
      keep: 1,
      onError: (error) => errors.push(error),
    });
    file.add({ event: 'admin' });
    await new Promise((done) => setImmediate(done));
    expect([file.errors, errors.length]).toEqual([1, 1]);
  },
);
