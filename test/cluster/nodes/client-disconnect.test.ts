// A node is paused while a client writes through it and disconnects. When the node resumes, it forwards only
// the writes whose clients still wait.
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Servers, patient } from '../support/servers.js';

const sources = {
  'main.hx': `N::P { UNIQUE INDEX name: String }
QUERY add(name: String) => p <- AddN<P>({name: name}) RETURN p::{name}
QUERY find(name: String) => p <- N<P>({name: name}) RETURN p::{name}
`,
};

let servers: Servers;
beforeAll(async () => {
  servers = await Servers.over(sources);
  await servers.place('a');
  await servers.place('b', { 'cluster.role': 'reader' });
  await servers.found('a', 'b');
  await servers.begin('a', 'b');
});
afterAll(() => servers.close());

/** Sends a write to that node on a connection of its own. */
async function send(name: string, row: string) {
  const { port } = servers.get(name);
  const body = JSON.stringify({ name: row });
  const head = `POST /add HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: ${body.length}`;
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  socket.on('error', () => undefined);
  const whole = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  await new Promise((resolve) =>
    socket.write(`${head}\r\nContent-Type: application/json\r\n\r\n${body}`, resolve),
  );
  return { socket, text: () => text, whole };
}

test('a write whose client disconnected meanwhile is not forwarded; a write with a client is', async () => {
  const { child } = servers.get('b');
  // Connections that it has, and some that it has yet to take.
  child.kill('SIGSTOP');
  const left = await Promise.all([0, 1, 2, 3].map((i) => send('b', `left ${i}`)));
  const waiting = await send('b', 'waited for');
  for (const { socket } of left) socket.destroy();
  await pause(2_000);
  child.kill('SIGCONT');
  await expect.poll(waiting.text, patient).toContain('200 OK');
  waiting.socket.destroy();
  const { position } = await servers.call('b', 'add', { name: 'behind them' });
  const after = { 'Trellis-After': position };
  const found = (name: string) => servers.call('a', 'find', { name }, after);
  expect((await found('waited for')).status).toBe(200);
  const statuses: number[] = [];
  for (const i of [0, 1, 2, 3]) statuses.push((await found(`left ${i}`)).status);
  expect(statuses).toEqual([404, 404, 404, 404]);
  // Who only says that nothing more comes still waits: without a pause nobody is taken for gone. A machine that is busy
  // with much else makes pauses of its own: whoever met one asks again.
  await pause(6_000);
  for (let i = 0, told = ''; !told.includes('200 OK'); i++) {
    expect([i < 20, told]).toEqual([true, '']);
    const half = await send('b', `half ${i}`);
    half.socket.end();
    told = await half.whole;
    if (told === '') await pause(1_000);
  }
});
