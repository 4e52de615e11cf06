// Responses that no node of this version would give: of another program at the address of a node, of a proxy
// between, or of a newer version. They count as no response, so the caller can retry; they are never an
// internal error.
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClusterNode, TrellisError } from '../../../engine/internal.js';
import { NodeProof } from '../../../server/cluster/node-auth.js';
import { sendToLeader } from '../../../server/cluster/membership/ask-leader.js';
import { LeaderPosition } from '../../../server/cluster/read/read-index.js';
import { NodeClient, goodBody } from '../../../server/cluster/node-client.js';
import { parseRemoteError, parseRemoteJson } from '../../../server/http/remote-error.js';

const foreign: [string, number, string][] = [
  ['a page', 200, '<html>Hello</html>'],
  ['nothing', 200, ''],
  ['a page that is not there', 404, '<html>404</html>'],
  ['a fault without words', 502, ''],
  ['a list', 500, '[]'],
  ['null', 400, 'null'],
  ['a word', 400, '"no"'],
  ['an error of something else', 400, '{"error":"no"}'],
  ['an error that only a newer version knows', 503, '{"code":"QUOTA_USED","args":{}}'],
  ['a code that every object has', 400, '{"code":"constructor"}'],
  ['what another program means well', 200, '[7'],
  ['half of an error', 400, '{"code":"NOT_LEADER","args":{"node"'],
];

let body: string;
let status: number;
let server: Server;
let address: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const unproved = 'Error: it does not prove that it is a node of this cluster';

const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return 'done';
  } catch (error) {
    return error instanceof TrellisError ? error.code : String(error);
  }
};

describe.each(foreign)('%s', (_kind, said, text) => {
  it('is reported as a response of no node', async () => {
    const bytes = Buffer.from(text);
    expect(parseRemoteError(bytes).code).toBe('NO_LEADER');
    expect(await codeOf(() => goodBody(false, bytes))).toBe('NO_LEADER');
    const otherwise = { code: 'SHARD_MISSING', args: { answered: 0, shards: 1 } } as const;
    expect(await codeOf(() => parseRemoteJson(false, bytes, otherwise))).toBe('SHARD_MISSING');
  });

  it.each(['alone', 'with a proof', 'with a proof, where all have to prove something'])(
    'is sent by the address of a leader: %s',
    async (how) => {
      [status, body] = [said, text];
      const self = { node: 'a', addresses: ['a:1'] };
      const isStrict = how === 'with a proof, where all have to prove something';
      const proof =
        how === 'alone' ? undefined : new NodeProof(['x'.repeat(32)], self, () => isStrict);
      const calls = new NodeClient({ secure: false, proof });
      const leader = { node: 'b', address };
      const node = {
        role: 'follower',
        leader,
        waitForLeader: async () => leader,
      } as unknown as ClusterNode;
      const of = new LeaderPosition({ node, calls, waitMs: 1_000 });
      expect(await codeOf(() => of.request({}))).toMatch(/^(NO_LEADER|NOT_LEADER)$/);
      const asked = await codeOf(() =>
        sendToLeader({ node, calls }, 'keys', {}, async () => undefined),
      );
      expect(asked).toBe(isStrict ? unproved : 'NO_LEADER');
    },
  );
});

it('an error of this product is returned unchanged, with its known members', () => {
  const told = { code: 'PARAM_TYPE', args: { param: 'a', type: 'I64', got: 'text' }, path: '/a' };
  const errors = [told, { code: 'QUOTA_USED', args: {} }];
  const { data } = parseRemoteError(Buffer.from(JSON.stringify({ ...told, hint: 'h', errors })));
  expect(data).toEqual({ ...told, hint: 'h', errors: [told] });
});

it('a position that no node sends is not that of a leader', async () => {
  const leader = { node: 'b', address: 'b:1' };
  const node = {
    role: 'follower',
    leader,
    waitForLeader: async () => leader,
  } as unknown as ClusterNode;
  const answer = { status: 200, reason: 'OK', header: () => '', body: Buffer.from('') };
  for (const said of ['{"position":"far"}', '{"position":7}', '{}']) {
    const calls = { request: async () => ({ ...answer, body: Buffer.from(said) }) };
    const of = new LeaderPosition({ node, calls, waitMs: 1_000 });
    expect(await codeOf(() => of.request({}))).toBe('NO_LEADER');
  }
});
