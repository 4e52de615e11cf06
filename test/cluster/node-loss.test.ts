// A node that received a forwarded request and then disappeared: it stopped, or its network drops all
// packets. Whoever asked is told that the outcome is open; a node that is only slow is waited for.
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { NodeClient } from '../../server/cluster/node-client.js';

type Answers = (request: IncomingMessage, response: ServerResponse) => void;

const calls = new NodeClient({ secure: false, pollIntervalMs: 100 });
const body = Buffer.from('{}');
let close = (): void => {};
afterEach(() => close());

async function nodeThat(answers: Answers): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer(answers).on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const isHello = ({ url }: IncomingMessage): boolean => url!.startsWith('/_admin/cluster-hello');

test('a slow node is waited for, whatever it replies to checks', async () => {
  const address = await nodeThat((request, response) => {
    if (isHello(request)) response.writeHead(403).end('{}');
    else setTimeout(() => response.end('{"done":1}'), 1_000);
  });
  const answer = await calls.forward(address, { path: '/add', headers: {}, body });
  expect(answer!.body.toString()).toBe('{"done":1}');
});

test('a node that is suspended, before or after the start of its reply: the outcome is unknown', async () => {
  for (const begins of [false, true]) {
    const address = await nodeThat((request, response) => {
      if (!isHello(request) && begins) response.writeHead(200).write('{');
    });
    const started = performance.now();
    const told = calls.forward(address, { path: '/add', headers: {}, body });
    await expect(told).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(performance.now() - started).toBeGreaterThan(250);
    close();
  }
});

test('a node that ends during its reply', async () => {
  const address = await nodeThat((request) => void setTimeout(() => request.socket.destroy(), 20));
  const told = calls.forward(address, { path: '/add', headers: {}, body });
  await expect(told).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
});

test('an unreachable node has received nothing', async () => {
  const address = await nodeThat(() => undefined);
  close();
  expect(await calls.forward(address, { path: '/add', headers: {}, body })).toBeUndefined();
});
