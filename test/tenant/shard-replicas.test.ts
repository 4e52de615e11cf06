// K48: where a request to a shard is sent: to this node, to other members for a slow read, and to its leader
// for a write. A request that may have been done is not sent twice.
import { expect, it } from 'vitest';
import {
  type CallOptions,
  Gatherer,
  type ShardReading,
  TrellisError,
  defaultLimits,
} from '../../engine/internal.js';
import type { Query } from '../../engine/plan/plan.js';
import { shardReplicas } from '../../server/cluster/shard/shard-replicas.js';
import type { NodeAnswer, NodeClient, ForwardedCall } from '../../server/cluster/node-client.js';

interface Given {
  role?: string;
  leader?: string;
  hasProof?: boolean;
  /** What that address answers: undefined where it cannot be reached. */
  says?: (address: string, asked: ForwardedCall) => Partial<NodeAnswer> | undefined;
  here?: () => Uint8Array | Promise<Uint8Array>;
  waitMs?: number;
  /** How far this node is. */
  seq?: number;
  /** It hears nothing of the log. */
  isCut?: boolean;
}

function placesOf(given: Given) {
  const { role = 'follower', leader, hasProof = true, says, here, waitMs = 50, seq = 7 } = given;
  const asked: [address: string, ForwardedCall][] = [];
  const local: CallOptions[] = [];
  const waited: unknown[] = [];
  let answered: { epoch: number; seq: number } | undefined;
  const behind = { code: 'REPLICA_BEHIND', args: { position: `2.${seq}`, wanted: '' } } as const;
  const database = {
    program: {
      queries: ['read', 'write'].map((name) => ({ name, plan: { writes: name === 'write' } })),
    },
    cluster: {
      node: 'a',
      role,
      program: 'fedcba9876543210',
      position: { epoch: 2, seq },
      hasApplied: (at: { seq: number }) => at.seq <= seq,
      readBarrier: async () => void waited.push('beat'),
      leader: leader && { node: leader, address: `${leader}:1` },
      waitForLeader: async () => undefined,
      waitFor: async (at: unknown) => {
        waited.push(at);
        if (given.isCut) throw new TrellisError(behind);
      },
      noteAnswered: (at: typeof answered) => {
        answered = at;
      },
      get owed() {
        return answered && answered.seq > seq ? answered : undefined;
      },
    },
    call: (_: string, __: Uint8Array, options: CallOptions) => {
      local.push(options);
      return here?.() ?? Buffer.from('"here"');
    },
  };
  const calls = {
    hasProof,
    request: async () => ({ status: 200, body: Buffer.from('{"position":"2.30"}') }),
    forward: async (address: string, one: ForwardedCall) => {
      asked.push([address, one]);
      const told = says?.(address, one);
      if (told === undefined) return undefined;
      return { status: 200, header: () => '2.8', body: Buffer.from(`"${address}"`), ...told };
    },
  } as unknown as NodeClient;
  const others = [
    { node: 'b', address: 'b:1' },
    { node: 'c', address: 'c:1' },
  ];
  const places = shardReplicas({ name: 't-1', database: database as never, others, calls, waitMs });
  return { places, asked, local, waited };
}
const body = Buffer.from('{}');
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const refusal = (code: string) => ({
  status: 503,
  body: Buffer.from(JSON.stringify({ code, args: { node: 'b', address: 'b:1' } })),
});

it('K48 a slow shard is asked at another node, which is not behind and has the same program', async () => {
  const { places, asked } = placesOf({
    says: () => ({}),
    here: () => new Promise(() => undefined),
  });
  const merge = { kind: 'one', id: 'id' };
  const query = { name: 'read', plan: {}, scatter: { type: 'T', merge } } as unknown as Query;
  const gatherer = new Gatherer({
    shards: () => [places.map(({ call }) => ({ call }))],
    limits: defaultLimits,
    embed: async () => [],
    claim: () => body,
    hedgeMs: 1,
    waitMs: 0,
  });
  expect(textOf(await gatherer.call(query, body, { budgetMs: 900 }))).toBe('"b:1"');
  expect(asked.map(([address]) => address)).toEqual(['b:1']);
  expect(asked[0]![1]).toEqual({
    path: '/read',
    body,
    asNode: true,
    headers: {
      'X-Request-Timeout-Ms': '900',
      'Trellis-Passed-On': 'fedcba9876543210',
      'Trellis-Consistency': 'session',
      'Trellis-After': '2.7',
    },
  });
});

it('K48 an unreachable member, or one with another program, is one replica less', async () => {
  const codeFor = async (says: Given['says']): Promise<string> => {
    const { call } = placesOf({ says: says! }).places[1]!;
    const error: unknown = await Promise.resolve(call('read', body, {})).catch((e: unknown) => e);
    return (error as TrellisError).code;
  };
  expect(await codeFor(() => undefined)).toBe('SHARD_MISSING');
  for (const status of [401, 403, 404, 409, 421, 429, 500, 503])
    expect(await codeFor(() => ({ ...refusal('PROGRAM_CHANGED'), status }))).toBe('SHARD_MISSING');
  // The request is wrong wherever it is asked.
  const wrong = { ...refusal('VECTOR_DIMENSION'), status: 400 };
  expect(await codeFor(() => wrong)).toBe('VECTOR_DIMENSION');
});

it('without a secret that nodes share, this node is the only replica', async () => {
  const { places, asked } = placesOf({ hasProof: false, leader: 'b' });
  expect(places.length).toBe(1);
  expect(textOf(await places[0]!.call('write', body, {}))).toBe('"here"');
  expect(asked).toEqual([]);
});

it('K47 a write goes to the leader of the shard, and is visible here when it is acknowledged', async () => {
  const header = (name: string): string => (name === 'trellis-position' ? '3.9' : '');
  const { places, asked, waited } = placesOf({ leader: 'c', says: () => ({ header }) });
  const idempotency = { scope: 'key', key: 'k' };
  expect(textOf(await places[0]!.call('write', body, { idempotency, budgetMs: 5.5 }))).toBe(
    '"c:1"',
  );
  expect(waited).toEqual([{ epoch: 3, seq: 9 }]);
  const [[address, { headers }]] = asked as [[string, ForwardedCall]];
  expect([address, headers['X-Request-Timeout-Ms']]).toEqual(['c:1', '6']);
  // Under the name that the leader itself keeps such an answer by.
  const leading = placesOf({ role: 'leader' });
  expect(textOf(await leading.places[0]!.call('write', body, { idempotency }))).toBe('"here"');
  expect(leading.local[0]!.idempotency).toEqual({ scope: 'node', key: headers['Idempotency-Key'] });
  expect(leading.asked).toEqual([]);
});

it('K47 a write follows the leader, and a write that may be done is not repeated', async () => {
  let turn = 0;
  const moving = placesOf({
    leader: 'b',
    waitMs: 5_000,
    says: () => [undefined, refusal('NOT_LEADER'), refusal('NO_LEADER'), {}][turn++],
  });
  expect(textOf(await moving.places[0]!.call('write', body, {}))).toBe('"b:1"');
  expect(moving.asked.length).toBe(4);
  for (const code of ['OUTCOME_UNKNOWN', 'VECTOR_DIMENSION', 'PROGRAM_CHANGED']) {
    const { places, asked } = placesOf({ leader: 'b', waitMs: 5_000, says: () => refusal(code) });
    await expect(places[0]!.call('write', body, {})).rejects.toMatchObject({ data: { code } });
    expect(asked.length).toBe(1);
  }
  const nobody = placesOf({});
  const refused = nobody.places[0]!.call('write', body, {});
  await expect(refused).rejects.toMatchObject({ data: { code: 'NO_LEADER' } });
});

/** What a request asks of its shards, and what it has heard of them. */
function readingOf(mode: string, seq?: number) {
  const heard: [shard: string, seq: number][] = [];
  const shards: ShardReading = {
    mode,
    key: {},
    after: (shard) => (shard === 't-1' && seq !== undefined ? { epoch: 2, seq } : undefined),
    answered: (shard, at) => void heard.push([shard, at.seq]),
  };
  return { shards, heard };
}

it('K20 a read of a shard is as current as the request says, and returns the position of the shard', async () => {
  const at = (seq: number) => ({ epoch: 2, seq });
  for (const [mode, after, waits] of [
    ['session', undefined, []],
    ['session', 7, []],
    ['session', 9, [at(9)]],
    ['local', 9, []],
    ['strong', undefined, [at(30)]],
  ] as const) {
    const { places, waited } = placesOf({ leader: 'b' });
    const { shards, heard } = readingOf(mode, after);
    expect(textOf(await places[0]!.call('read', body, { shards }))).toBe('"here"');
    expect([mode, after, waited, heard]).toEqual([mode, after, waits, [['t-1', 7]]]);
  }
  const leading = placesOf({ role: 'leader' });
  await leading.places[0]!.call('read', body, { shards: readingOf('strong').shards });
  expect(leading.waited).toEqual(['beat']);
});

it('K20 another node is asked for a read that is as current, and not older than the data here', async () => {
  for (const [mode, after, asks] of [
    ['session', undefined, { mode: 'session', after: '2.7' }],
    ['session', 9, { mode: 'session', after: '2.9' }],
    ['session', 3, { mode: 'session', after: '2.7' }],
    ['local', 9, { mode: 'session', after: '2.7' }],
    ['strong', 9, { mode: 'strong', after: undefined }],
    ['max-lag=50', 9, { mode: 'max-lag=50', after: undefined }],
  ] as const) {
    const { places, asked } = placesOf({ says: () => ({}) });
    const { shards, heard } = readingOf(mode, after);
    await places[1]!.call('read', body, { shards });
    const { headers } = asked[0]![1];
    expect({ mode: headers['Trellis-Consistency'], after: headers['Trellis-After'] }).toEqual(asks);
    expect(heard).toEqual([['t-1', 8]]);
  }
});

it('K18 a write returns the position of its shard, whichever node has done it', async () => {
  const led = placesOf({ leader: 'c', says: () => ({}) });
  const own = placesOf({ role: 'leader', seq: 12 });
  const [there, here] = [readingOf('session'), readingOf('session')];
  await led.places[0]!.call('write', body, { shards: there.shards });
  await own.places[0]!.call('write', body, { shards: here.shards });
  expect([there.heard, here.heard]).toEqual([[['t-1', 8]], [['t-1', 12]]]);
});

it('a shard that is cut from its log is read as far as it was written through here, or not at all', async () => {
  const { places, asked } = placesOf({ leader: 'b', says: () => ({}), isCut: true });
  const [here, there] = [places[0]!, places[1]!];
  // Done by its leader, at 2.8.
  expect(textOf(await here.call('write', body, {}))).toBe('"b:1"');
  const refused = { data: { code: 'REPLICA_BEHIND' } };
  for (const options of [{}, { shards: readingOf('session').shards }])
    await expect(here.call('read', body, options)).rejects.toMatchObject(refused);
  const local = { shards: readingOf('local').shards };
  expect(textOf(await here.call('read', body, local))).toBe('"here"');
  await there.call('read', body, {});
  expect(asked.at(-1)![1].headers['Trellis-After']).toBe('2.8');
});

it('a position that no node sends: a read fails, and the outcome of a write is unknown', async () => {
  const { places } = placesOf({ leader: 'b', says: () => ({ header: () => 'far' }) });
  const coded = (code: string) => ({ data: { code } });
  await expect(places[0]!.call('write', body, {})).rejects.toMatchObject(coded('OUTCOME_UNKNOWN'));
  await expect(places[1]!.call('read', body, {})).rejects.toMatchObject(coded('SHARD_MISSING'));
});
