// An address that claims to be the leader receives no client data and no data of this node before it has
// proved its identity: each connection begins with a greeting. This node reads no more of a response than it
// requested.
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { NodeProof } from '../../../server/cluster/node-auth.js';
import { NodeClient, type NodeCallOptions } from '../../../server/cluster/node-client.js';

const secrets = ['a secret that all nodes know'];
const key = 'the key of a client';
const call = { path: '/add', headers: { 'X-Api-Key': key }, body: Buffer.from('{"name":"x"}') };

interface Heard {
  path: string;
  said: string;
  headers: IncomingMessage['headers'];
}

type Answering = (heard: Heard, response: ServerResponse, address: string) => void;

const servers: Server[] = [];
const all: NodeClient[] = [];
afterEach(() => {
  for (const calls of all.splice(0)) calls.close();
  for (const server of servers.splice(0)) server.close();
});

/** Somebody at an address, and all that they have heard. */
async function somebody(answer: Answering): Promise<{ address: string; heard: Heard[] }> {
  const heard: Heard[] = [];
  let address = '';
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { url = '', headers } = request;
    const one = { path: url, said: Buffer.concat(pieces).toString(), headers };
    heard.push(one);
    answer(one, response, address);
  });
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, heard };
}

function callsOf(more: Partial<NodeCallOptions> = {}, isStrict = true) {
  const self = { node: 'asking', addresses: ['asking:1'] };
  const proof = new NodeProof(secrets, self, () => isStrict);
  const told: string[] = [];
  const onUnproved = (address: string, why: string): void => void told.push(`${address} ${why}`);
  const calls = new NodeClient({ secure: false, proof, onUnproved, ...more });
  all.push(calls);
  return { calls, told };
}

const hello = '/_admin/cluster-hello';

/** A node of these secrets, which says that it is at `own`. */
const nodeOf = (known: readonly string[], own?: string): Answering => {
  let proof: NodeProof | undefined;
  return ({ path, said }, response, address) => {
    const self = { node: 'asked', addresses: [own ?? address] };
    proof ??= new NodeProof(known, self, () => true);
    const welcome = { ...proof.welcome(Buffer.from(said)), embeddings: true };
    response.end(path === hello ? JSON.stringify(welcome) : '{"done":1}');
  };
};

const text =
  (said: string, status = 200): Answering =>
  (_, response) =>
    void response.writeHead(status).end(said);

const strangers: Record<string, Answering> = {
  'a page of something else': text('<html>'),
  nothing: text(''),
  'that it is not ready': text('{"code":"NOT_READY","args":{}}', 503),
  'a challenge and no proof, as versions before': text('{"challenge":"0.x","embeddings":true}'),
  'a proof of its own making': text(
    '{"challenge":"0.x","node":"asked","key":"00000001","proof":"00"}',
  ),
  'what a node of another secret says': nodeOf(['a secret of somebody else']),
  'what a node at another address says': nodeOf(secrets, 'asked:1'),
  'more than a node has to say': text(`{"challenge":"${'x'.repeat(100_000)}"}`),
  'its answer and good-bye': (_, response) =>
    void response.setHeader('Connection', 'close').end('{}'),
  'no answer, but a closed connection': (_, response) => void response.destroy(),
};

describe('an impostor at the address of a leader that sends', () => {
  test.each(Object.keys(strangers))('%s: receives a greeting, and nothing else', async (what) => {
    const { address, heard } = await somebody(strangers[what]!);
    const { calls } = callsOf();
    expect(await calls.forward(address, call)).toBeUndefined();
    expect(await calls.forward(address, { ...call, asNode: true })).toBeUndefined();
    const embeddings = Buffer.from('vectors of what was asked');
    expect(await calls.forward(address, { ...call, embeddings })).toBeUndefined();
    await expect(
      calls.request(address, '/_admin/cluster-claim', { node: 'x' }, 500),
    ).rejects.toThrow();
    expect(heard.length).toBeGreaterThanOrEqual(4);
    for (const { path, said, headers } of heard) {
      expect([path, Object.keys(JSON.parse(said)).sort()]).toEqual([
        hello,
        ['address', 'keys', 'node', 'nonce'],
      ]);
      expect([headers['x-api-key'], headers['trellis-node'], headers.authorization]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    }
  });

  test("the real node's replies, requested as if by this node: receives nothing else either", async () => {
    const real = await somebody(nodeOf(secrets));
    const between = await somebody(async ({ said }, response) => {
      const reply = await fetch(`http://${real.address}${hello}`, { method: 'POST', body: said });
      response.end(await reply.text());
    });
    const { calls, told } = callsOf();
    expect(await calls.forward(between.address, call)).toBeUndefined();
    expect(between.heard.map(({ path }) => path)).toEqual([hello]);
    expect(told[0]).toContain('"asked"');
    expect((await calls.forward(real.address, call))?.body.toString()).toBe('{"done":1}');
  });
});

test('a node is greeted one time per connection, and then receives requests', async () => {
  const { address, heard } = await somebody(nodeOf(secrets));
  const { calls, told } = callsOf();
  for (let i = 0; i < 5; i++) expect((await calls.forward(address, call))?.status).toBe(200);
  expect(heard.filter(({ path }) => path === hello)).toHaveLength(1);
  expect(heard.filter(({ headers }) => headers['x-api-key'] === key)).toHaveLength(5);
  expect((await calls.request(address, '/x', {}, 500)).status).toBe(200);
  // Many at once share the connections there may be.
  const many = Array.from({ length: 400 }, () => calls.forward(address, call));
  for (const answer of await Promise.all(many)) expect(answer?.status).toBe(200);
  expect(heard.filter(({ path }) => path === hello).length).toBeLessThanOrEqual(257);
  expect(told).toEqual([]);
});

test('an impostor that replaces a node gets a greeting too', async () => {
  const { address } = await somebody(nodeOf(secrets));
  const { calls } = callsOf();
  expect((await calls.forward(address, call))?.status).toBe(200);
  const [old] = servers.splice(0) as [Server];
  old.closeAllConnections();
  await new Promise((resolve) => old.close(resolve));
  const heard: string[] = [];
  const thief = createServer((request, response) => {
    heard.push(`${request.url} ${request.headers['x-api-key']}`);
    response.end('{"challenge":"0.x"}');
  });
  servers.push(thief);
  const [, port] = address.split(':');
  // What was cut off is known as such.
  await pause(100);
  await new Promise<void>((resolve) => void thief.listen(Number(port), '127.0.0.1', resolve));
  expect(await calls.forward(address, call)).toBeUndefined();
  expect(heard).toEqual([`${hello} undefined`]);
});

test('an older version receives what it needs while the log is not signed', async () => {
  const { address, heard } = await somebody(text('{"challenge":"0.x","embeddings":true}'));
  const { calls } = callsOf({}, false);
  expect((await calls.forward(address, call))?.status).toBe(200);
  expect(heard.at(-1)!.headers['x-api-key']).toBe(key);
  // Not so one that could prove itself, and does not.
  const other = await somebody(nodeOf(secrets, 'asked:1'));
  expect(await calls.forward(other.address, call)).toBeUndefined();
});

test('without a secret no node has a proof: only this machine is trusted', async () => {
  const { address } = await somebody(text('{}'));
  const { calls, told } = callsOf({ proof: undefined, onlyLocal: true });
  expect((await calls.forward(address, call))?.status).toBe(200);
  for (const other of ['10.0.0.1:6969', 'localhost.example:6969', '[fe80::1]:1'])
    expect(await calls.forward(other, call)).toBeUndefined();
  expect(told).toHaveLength(3);
});

describe('reads no more of a response than it requested', () => {
  const long = (bytes: number): Answering => {
    const greet = nodeOf(secrets);
    return (heard, response, address) => {
      if (heard.path === hello) return greet(heard, response, address);
      // Without a length, for ever: what is not taken is not sent.
      let sent = 0;
      const more = (): void => {
        while (sent < bytes && !response.destroyed) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536, 32))) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    };
  };

  test('a client gets an unknown outcome, a node gets an error', async () => {
    const { address } = await somebody(long(Number.POSITIVE_INFINITY));
    const { calls } = callsOf({ answerMax: 65_536 });
    const open = { code: 'OUTCOME_UNKNOWN' };
    await expect(calls.forward(address, call)).rejects.toMatchObject(open);
    await expect(calls.request(address, '/x', {}, 5_000, { max: 100 })).rejects.toThrow(
      /100 bytes/,
    );
    await expect(calls.request(address, '/x', {}, 5_000)).rejects.toThrow(/more than/);
  });

  test('a response within the limit is complete', async () => {
    const { address } = await somebody(long(4 * 65_536));
    const { calls } = callsOf({ answerMax: 4 * 65_536 });
    expect((await calls.forward(address, call))?.body.length).toBe(4 * 65_536);
    const most = 4 * 65_536;
    expect((await calls.request(address, '/x', {}, 5_000, { max: most })).body.length).toBe(most);
  });
});
