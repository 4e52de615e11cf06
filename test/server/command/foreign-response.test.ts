// Commands that call the server of a directory, if another program or a newer version listens on its port.
// Each reports this in one line, with a specific exit code, and not as an internal error.
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Lock, takeLock } from '../../../engine/storage/lock/lock.js';
import { makeFolder, writeProject } from '../../support/project.js';
import { commandHere } from '../../support/server/command-here.js';

const project = join(makeFolder(), 'app');
const data = join(project, '.trellis', 'data');
const file = join(project, 'rows.ndjson');
let answer: [status: number, body: string, isOurs: boolean] = [200, '', false];
let server: Server;
let lock: Lock;

beforeAll(async () => {
  const source = 'N::A { x: I64 }\nV::P { x: I64 }\nQUERY all() => a <- N<A> RETURN a\n';
  writeProject(project, { sources: { 'main.hx': source, 'rows.ndjson': '{"node":"A"}\n' } });
  const made = await commandHere(['import', file, '--project', project]);
  expect(made.code, made.stderr).toBe(0);
  server = createServer((request, response) => {
    const [status, body, isOurs] = answer;
    const id = request.headers['x-request-id'];
    if (isOurs && id !== undefined) response.setHeader('X-Request-Id', id);
    request.resume().on('end', () => response.writeHead(status).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  lock = takeLock(data);
  lock.setPort((server.address() as AddressInfo).port);
});
afterAll(async () => {
  lock.release();
  await new Promise((resolve) => server.close(resolve));
});

const answers: [string, number, string, isOurs?: boolean][] = [
  ['a page', 200, '<html>Hello</html>'],
  ['nothing', 200, ''],
  ['a page that is not there', 404, '<html>404</html>'],
  ['a fault without words', 502, ''],
  ['a list', 500, '[]'],
  ['null', 400, 'null'],
  ['an error of something else', 400, '{"error":"no"}'],
  ['what another program means well', 200, '{"a":[{"id":1}],"status":"ok"}'],
  ['an error of one like ours', 404, '{"code":"not_found","message":"no"}'],
  [
    'an error that only a newer version knows',
    503,
    '{"code":"QUOTA_USED","args":{"what":"x"}}',
    true,
  ],
  ['a code that is no text', 400, '{"code":7}', true],
  ['a code that every object has', 400, '{"code":"constructor"}', true],
];
const commands = ['backup', 'dump +', 'recall', 'query all'];

it.each(answers)('%s', async (_kind, status, body, isOurs = false) => {
  answer = [status, body, isOurs];
  for (const line of commands) {
    const words = line.replace('+', join(project, 'dumped'));
    const said = await commandHere([...words.split(' '), '--project', project]);
    const told = /^DATA_LOCKED: .* what answers at .* is no server of this version\. .*\n$/;
    expect([line, said]).toEqual([
      line,
      { code: 75, stdout: '', stderr: expect.stringMatching(told) },
    ]);
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const said = await commandHere(['import', file, '--url', url, '--project', project]);
  const told = `CONFIG_INVALID: What answers at ${url} with status ${status} is no server of this version.\n`;
  expect([said.code, said.stderr]).toEqual([78, told]);
});
