// The address of a caller, for all orders in which connections of several addresses open and close. Each
// request has the address of its own socket, whether the transport reads the address once or for every
// request.
import { request } from 'node:http';
import { type Socket, connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Exchange } from '../../../server/http/exchange.js';
import { noHeaders } from '../../../server/http/header-list.js';
import { SoleAddress } from '../../../server/http/sole-address.js';
import type { Transport } from '../../../server/http/transport.js';
import { loadUws } from '../../../server/http/native/uws-add-on.js';
import { openUwsTransport } from '../../../server/http/uws-transport.js';
import { Random } from '../../support/random.js';

const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
const limits = {
  body_bytes: 1e6,
  buffered_body_bytes: 1e6,
  buffered_response_bytes: 1e6,
  header_bytes: 16_384,
  receive_time: 30_000,
  connections: 1_000,
  connections_per_address: 1_000,
};

let transport: Transport;
let port: number;
const answer = (exchange: Exchange): boolean => {
  exchange.send('200 OK', noHeaders, Buffer.from(exchange.peer()), false);
  return false;
};

beforeAll(async () => {
  const receiver = {
    open: answer,
    complete: () => undefined,
    refuse: () => undefined,
    fail: (_: Exchange, error: unknown) => expect.fail(String(error)),
    disconnected: () => undefined,
  };
  transport = openUwsTransport(loadUws()!, { receiver, limits, idleMs: 60_000 });
  port = await transport.listen(['127.0.0.1', '127.0.0.2', '127.0.0.3'], 0);
});
afterAll(() => transport.close());

const open = (address: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: address }, () =>
      resolve(socket),
    );
    socket.on('error', reject);
  });

/** The body of the answer to a request on that connection. */
const peerOn = (socket: Socket): Promise<string> =>
  new Promise((resolve, reject) => {
    const asked = request({ createConnection: () => socket, path: '/' }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve(text));
    });
    asked.setHeader('Connection', 'keep-alive');
    asked.shouldKeepAlive = true;
    asked.on('error', reject).end();
  });

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once('close', () => resolve()).destroy());

it('is the address of the socket, for any sequence of connections', async () => {
  const random = new Random(20_261_129);
  const sockets: { socket: Socket; address: string }[] = [];
  for (let step = 0; step < 300; step++) {
    // Runs of one address alone, runs of several, and moments without any connection.
    const few = addresses.slice(0, 1 + (Math.floor(step / 40) % 3));
    if (sockets.length === 0 || (sockets.length < 6 && random.chance(0.5))) {
      const address = random.pick(few);
      sockets.push({ socket: await open(address), address });
    } else if (random.chance(0.5)) {
      const [gone] = sockets.splice(random.below(sockets.length), 1);
      await closed(gone!.socket);
    } else if (random.chance(0.1)) {
      for (const { socket } of sockets.splice(0)) await closed(socket);
    }
    for (const { socket, address } of sockets) expect(await peerOn(socket)).toBe(address);
  }
  for (const { socket } of sockets) await closed(socket);
});

it('is read once while all connections have the same, and not at all while they are mixed', () => {
  const sole = new SoleAddress();
  let reads = 0;
  const from = (address: string) => (): string => {
    reads++;
    return address;
  };
  const state = (): [string | undefined, number] => [sole.value, reads];
  expect(state()).toEqual([undefined, 0]);
  sole.opened(from('a'));
  sole.opened(from('a'));
  expect(state()).toEqual(['a', 2]);
  sole.opened(from('b'));
  expect(state()).toEqual([undefined, 3]);
  sole.opened(from('a'));
  sole.closed();
  sole.closed();
  sole.closed();
  // One is left, of which nobody can say whose it is.
  expect(state()).toEqual([undefined, 3]);
  sole.closed();
  sole.opened(from('b'));
  expect(state()).toEqual(['b', 4]);
});
