// The output of commands is complete, however late and by whatever it is read. A pipe holds 64 KiB, and a
// process that ends loses what did not fit into the pipe.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Client } from '../../support/server/http.js';
import { makeFolder, root, writeProject } from '../../support/project.js';

const program = join(root, 'dist/bin/main.js');
const long = process.env.TRELLIS_TEST_LONG === '1';
const many = Array.from({ length: 600 }, (_, i) => i);
/** Of projects, and of a source in no style. */
const paths = { good: '', faulty: '', source: '' };
const late = 'sleep 1.5; cat';

beforeAll(() => {
  const query = (i: number) => `QUERY find${i}(k: I64) =>\n  a <- N<A>({ k: k })\n  RETURN a\n`;
  const schema = 'N::A { INDEX k: I64 }\n';
  const sources = { 'main.hx': schema + many.map(query).join('') };
  const folder = makeFolder();
  writeProject((paths.good = join(folder, 'good')), { sources });
  const wrong = many.map((i) => query(i).replace('RETURN a', 'RETURN b')).join('');
  writeProject((paths.faulty = join(folder, 'faulty')), { sources: { 'main.hx': schema + wrong } });
  writeFileSync((paths.source = join(folder, 'source')), sources['main.hx'].repeat(8));
});

/** Runs a line of the shell, with the program as `$trellis`; `code` is that of the program. */
function shell(line: string): Promise<{ code: number; out: string; err: string }> {
  const trellis = `'${process.execPath}' '${program}'`;
  const { good, faulty, source } = paths;
  const script = `good='${good}' faulty='${faulty}' source='${source}'\n${line.replaceAll('trellis', trellis)}`;
  const child = spawn('bash', ['-c', `${script}\nexit \${PIPESTATUS[0]}`]);
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  return new Promise((resolve) =>
    child.once('close', (code) => resolve({ code: code!, out, err })),
  );
}

const commands: [line: string, code: number][] = [
  ['trellis check $faulty', 1],
  ['trellis openapi $good', 0],
  ['trellis types $good --out -', 0],
  ['trellis check $faulty --json', 1],
  ['trellis fmt - <$source', 0],
];

describe.concurrent.each(long ? commands : commands.slice(0, 1))('%s', (command, code) => {
  test('is complete for a slow reader', async ({ expect }) => {
    const [file, pipe] = await Promise.all([
      shell(`${command} >$source.$$; code=$?; cat $source.$$; (exit $code)`),
      shell(`${command} | (${late})`),
    ]);
    expect(file.out.length).toBeGreaterThan(70_000);
    expect(pipe).toEqual(file);
    expect(file.code).toBe(code);
  });

  test('ends without a message when its reader stops', async ({ expect }) => {
    const { code: ended, err } = await shell(`${command} | head -c 10`);
    expect(ended).toBe(code);
    expect(err).not.toMatch(/EPIPE|not whole|INTERNAL/);
  });

  test.skipIf(!existsSync('/dev/full'))('says that a disk is full', async ({ expect }) => {
    const { code: ended, err } = await shell(`${command} >/dev/full`);
    expect(err).toContain('What was printed is not whole: ENOSPC');
    expect(ended).toBe(code === 0 ? 74 : code);
  });
});

test('an unread log does not keep a server from ending', async () => {
  const config = { 'log.slow_after': '0ms', 'server.port': 0 };
  const project = makeFolder();
  writeProject(project, { sources: { 'main.hx': 'QUERY one() => RETURN 1' }, config });
  const child = spawn(process.execPath, [program, 'serve', project], { stdio: 'pipe' });
  const [ready] = (await once(child.stdout, 'data')) as [Buffer];
  const client = new Client(Number(/:(\d+)\n/.exec(ready.toString())![1]));
  // More lines of a log than the pipe between holds.
  for (let i = 0; i < 3_000; i++) await client.post('one');
  expect(child.stderr.readableFlowing).toBe(null);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  child.stderr.resume();
  client.close();
});
