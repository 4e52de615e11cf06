// A write that is passed on, over a grid of faults: at every step between two nodes something is cut off, reset or
// garbled. Who asks hears either that nothing was done or that the outcome is open; never of a defect, and nothing is
// asked for twice. The peer says by turns what goes wrong: nothing here depends on how fast the machine is.
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClusterNode, type ClusterPosition, TrellisError } from '../../engine/internal.js';
import { NodeProof } from '../../server/cluster/node-auth.js';
import type { Exchange } from '../../server/http/exchange.js';
import type { ClusterCounts } from '../../server/cluster/cluster-counts.js';
import { forwardToLeader, forwardToNode } from '../../server/cluster/forward/forward.js';
import { NodeClient } from '../../server/cluster/node-client.js';
import { helloPath } from '../../server/cluster/node-agent.js';

type Answering = (response: ServerResponse, socket: Socket) => void;

const head = (length: number): string => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n`;

/** What goes wrong where an answer is due. */
const faults: Record<string, Answering> = {
  'closed before a word': (_, socket) => socket.destroy(),
  'reset before a word': (_, socket) => socket.resetAndDestroy(),
  'half of a head': (_, socket) => socket.end(head(9).slice(0, 25)),
  'closed behind the head': (_, socket) => socket.end(`${head(9)}\r\n`),
  'reset behind the head': (_, socket) =>
    socket.write(`${head(9)}\r\n`, () => socket.resetAndDestroy()),
  'half of an answer': (_, socket) => socket.end(`${head(9)}\r\n{"p":`),
  'more than was promised': (_, socket) => socket.end(`HTTP/1.1 200 OK\r\nA: ${'x'.repeat(2e5)}`),
  'no HTTP': (_, socket) => socket.end('\u0000\u0001\u0002 what is this\r\n\r\n'),
  'two lengths': (_, socket) => socket.end(`${head(9)}${head(7).slice(17)}\r\n{"p":"x"}`),
  'a chunk without a size': (_, socket) =>
    socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'),
};

const good: Answering = (response) =>
  response.writeHead(200, { 'Trellis-Position': '1.9' }).end('{"p":"x"}');

const secret = ['a secret that all nodes know'];
const servers: Server[] = [];
const all: NodeClient[] = [];
afterEach(() => {
  for (const calls of all.splice(0)) calls.close();
  for (const server of servers.splice(0)) server.closeAllConnections();
});

interface Peer {
  hello?: Answering | undefined;
  call?: Answering;
}

/** A node that leads, and how often it has heard of the write. */
async function leaderThat(peer: Peer) {
  const heard = { calls: 0 };
  let address = '';
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (request.url !== helloPath) {
      heard.calls++;
      (peer.call ?? good)(response, request.socket);
    } else if (peer.hello !== undefined) peer.hello(response, request.socket);
    else {
      const proof = new NodeProof(secret, { node: 'a', addresses: [address] }, () => true);
      response.end(JSON.stringify(proof.welcome(Buffer.concat(pieces))));
    }
  });
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, heard, server };
}

interface Given {
  isProved?: boolean;
  pollIntervalMs?: number;
  /** What this node owes its clients, one look after another. */
  owed?: (ClusterPosition | undefined)[];
}

function follower(address: string, { isProved = true, owed = [], pollIntervalMs }: Given = {}) {
  const leader = { node: 'a', address };
  const waited: unknown[] = [];
  const node = {
    ...{ node: 'b', role: 'follower', program: '0123456789abcdef', leader, fault: undefined },
    waitForLeader: async () => leader,
    noteAnswered: () => undefined,
    get owed() {
      return owed.shift();
    },
    waitFor: async (at: ClusterPosition) => void waited.push(at.seq),
  } as unknown as ClusterNode;
  const self = { node: 'b', addresses: ['b:1'] };
  const proof = isProved ? new NodeProof(secret, self, () => true) : undefined;
  const calls = new NodeClient({ secure: false, proof, ...(pollIntervalMs && { pollIntervalMs }) });
  all.push(calls);
  const counts = { forwarded: () => undefined } as unknown as ClusterCounts;
  const options = { node, calls, counts, waitMs: 60, bodyMax: 1024 };
  return { options, leader, waited };
}

const asked = (): Exchange =>
  ({
    ...{ path: '/add', query: '', consistency: '', after: '', contentType: '', apiKey: '' },
    ...{ authorization: '', tenant: '', requestId: 'r', timeoutHeader: '', traceparent: '' },
    ...{ startedAt: performance.now(), settled: false, allowDisconnect: () => undefined },
  }) as unknown as Exchange;

const body = Buffer.from('{"name":"x"}');

async function outcomeOf(work: () => Promise<{ status: string }>): Promise<string> {
  try {
    return (await work()).status;
  } catch (error) {
    return error instanceof TrellisError ? error.code : String(error);
  }
}

type Follower = ReturnType<typeof follower>;

/** A write, and what a client asks of the very node. */
const ways: [name: string, unreached: string, (by: Follower) => Promise<{ status: string }>][] = [
  ['a write', 'NOT_LEADER', ({ options }) => forwardToLeader(options, asked(), { body })],
  [
    'a call of a node',
    'SESSION_ELSEWHERE',
    ({ options, leader }) => forwardToNode(options, leader, asked(), body),
  ],
];

describe.each(ways)('%s', (_name, unreached, send) => {
  it.each([true, false])('no node listens (proof: %s): nothing was done', async (isProved) => {
    const { address, server } = await leaderThat({});
    await new Promise((resolve) => server.close(resolve));
    expect(await outcomeOf(() => send(follower(address, { isProved })))).toBe(unreached);
  });

  it.each(Object.keys(faults))('%s, while both exchange proofs: nothing was done', async (at) => {
    const { address, heard } = await leaderThat({ hello: faults[at] });
    expect(await outcomeOf(() => send(follower(address)))).toBe(unreached);
    expect(heard.calls).toBe(0);
  });

  describe.each([true, false])('proof: %s', (isProved) => {
    it.each(Object.keys(faults))(
      '%s, after the request was sent: the outcome is unknown',
      async (at) => {
        const { address, heard } = await leaderThat({ call: faults[at]! });
        const by = follower(address, { isProved });
        expect(await outcomeOf(() => send(by))).toBe('OUTCOME_UNKNOWN');
        expect(heard.calls).toBe(1);
      },
    );

    it('a position that no node sends: the outcome is unknown', async () => {
      const call: Answering = (response) =>
        response.writeHead(200, { 'Trellis-Position': 'far' }).end('{}');
      const { address, heard } = await leaderThat({ call });
      const by = follower(address, { isProved });
      expect(await outcomeOf(() => send(by))).toBe('OUTCOME_UNKNOWN');
      expect(heard.calls).toBe(1);
    });

    it('no reply, and none to checks: the outcome is unknown', async () => {
      const { address, heard } = await leaderThat({ call: (_, socket) => socket.pause() });
      const by = follower(address, { isProved, pollIntervalMs: 50 });
      const told = outcomeOf(() => send(by));
      await expect.poll(() => heard.calls).toBe(1);
      for (const server of servers) server.close();
      for (const server of servers) server.removeAllListeners('request');
      expect(await told).toBe('OUTCOME_UNKNOWN');
    });

    it('a connection that is closed after its reply loses no call', async () => {
      const call: Answering = (response, socket) => {
        response.on('finish', () => socket.destroy());
        good(response, socket);
      };
      const { address, heard } = await leaderThat({ call });
      const by = follower(address, { isProved });
      for (let i = 1; i <= 20; i++) {
        const before = heard.calls;
        const outcome = await outcomeOf(() => send(by));
        expect(['200 OK', 'OUTCOME_UNKNOWN']).toContain(outcome);
        expect(heard.calls - before).toBeLessThanOrEqual(1);
        if (outcome === '200 OK') expect(heard.calls - before).toBe(1);
      }
    });
  });
});

// The thread that applies the log may bring what is owed between any two looks.
it.each([0, 1, 2, 3])(
  'the missing entry arrives after %s checks: the write is acknowledged',
  async (n) => {
    const { address } = await leaderThat({});
    const owed = Array.from({ length: n }, () => ({ epoch: 1, seq: 9 }));
    const { options, waited } = follower(address, { owed });
    expect(await outcomeOf(() => forwardToLeader(options, asked(), { body }))).toBe('200 OK');
    expect(waited).toEqual(n > 0 ? [9] : []);
  },
);

describe('a call of a shard', () => {
  const send = async ({ options, leader }: Follower): Promise<{ status: string }> => {
    const call = { path: '/add', headers: {}, body, asNode: true };
    const answer = await options.calls.forward(leader.address, call);
    return { status: answer === undefined ? 'nothing was done' : String(answer.status) };
  };

  it.each(Object.keys(faults))(
    '%s, while it asks for a new challenge: nothing was done',
    async (at) => {
      // The first greeting succeeds. The node then refuses the proof, so the other one asks for a challenge again.
      const peer: Peer = {
        call: (response) => {
          peer.hello = faults[at];
          response.writeHead(401).end('{}');
        },
      };
      const { address, heard } = await leaderThat(peer);
      expect(await outcomeOf(() => send(follower(address)))).toBe('nothing was done');
      expect(heard.calls).toBe(1);
    },
  );
});
