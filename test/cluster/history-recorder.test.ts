// What the recorder says of transactions is what they did: put into another store, in order, it makes that
// one equal, table by table and byte by byte. And what must not be recorded is not.
import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { check } from '../../engine/storage/check/check.js';
import { type Storage, openStorage } from '../../engine/storage/open-storage.js';
import { type Env, Table } from '../../engine/storage/table/env.js';
import { metaKey, readState } from '../../engine/storage/table/meta.js';
import { readTrimmed } from '../../engine/storage/table/vector-log-trim.js';
import { ReplicatedTable } from '../../engine/storage/table/replicated-table.js';
import { WriteSet } from '../../engine/storage/table/write-set.js';
import type { WriteView } from '../../engine/storage/table/view-types.js';
import { garden, node } from '../storage/support/declare.js';
import { freshFolder, labelNamed, values, write } from '../storage/support/garden.js';
import { Random } from '../support/random.js';
import { readSources } from '../support/source-tree.js';

type Change = [table: number, key: Uint8Array, value: Uint8Array | undefined];

/** A store whose transactions are kept, entry by entry. */
function recorded(): { storage: Storage; entries: Change[][] } {
  const entries: Change[][] = [];
  const recorder = new WriteSet();
  const beforeCommit = (): void => {
    const entry: Change[] = [];
    recorder.each((table, key, value) => entry.push([table, key.slice(), value?.slice()]));
    if (entry.length > 0) entries.push(entry);
  };
  const ended = (): void => recorder.clear();
  const leaveInLog = (): Error => expect.fail('nothing finds no room');
  const replication = { recorder, beforeCommit, isAhead: false, leaveInLog, ended };
  const options = { limits: { ...defaultLimits, txn_writes: 500 }, mode: 'create' as const };
  const storage = openStorage(freshFolder(), { ...options, replication });
  storage.applySchema({ schema: garden, olderSchemas: [], migrations: [] }, { nowMs: 0 });
  return { storage, entries };
}

function hashOf(
  env: Env,
  name:
    | 'meta'
    | 'records'
    | 'uuid'
    | 'labels'
    | 'out'
    | 'in'
    | 'index'
    | 'vectors'
    | 'vlog'
    | 'derived',
): string {
  env.refresh();
  const table = env[name] as Table<unknown>;
  const hash = createHash('sha256');
  const { first } = table;
  for (const { key, value } of first === undefined ? [] : table.withChecksum(first, 1e6)) {
    const bytes = table.keyBytes(key);
    if (name === 'meta' && [5, 6].includes(bytes[0]!)) continue;
    hash.update(bytes).update(value);
  }
  return hash.digest('hex');
}

const leader = recorded();
const follower = recorded();
afterAll(() => [leader, follower].map(({ storage }) => storage.close()));
let followed = 0;

function follow(): void {
  for (; followed < leader.entries.length; followed++) {
    const position = Buffer.from(`${followed}`);
    follower.storage.follow(position, (apply) => {
      for (const change of leader.entries[followed]!) apply(...change);
    });
  }
}

function expectEqual(): void {
  follow();
  const names = [
    'meta',
    'records',
    'uuid',
    'labels',
    'out',
    'in',
    'index',
    'vectors',
    'vlog',
    'derived',
  ] as const;
  for (const name of names)
    expect(hashOf(follower.storage.env, name), name).toBe(hashOf(leader.storage.env, name));
}

describe('a recorded store', () => {
  const { storage } = leader;
  const random = new Random(17);
  const gardener = labelNamed(storage, 'Gardener');
  const follows = labelNamed(storage, 'Follows');
  const note = labelNamed(storage, 'Note');
  let alive: number[] = [];
  let notes: number[] = [];

  const step = (view: WriteView): void => {
    const kind = random.below(8);
    const id = random.pick(alive);
    if (kind < 2 || alive.length < 4) {
      alive.push(view.createNode(gardener, values({ email: `${random.next()}@x`, city: 'Lund' })));
    } else if (kind === 2) view.createEdge(follows, id, random.pick(alive), values({}));
    else if (kind === 3)
      notes.push(view.createVector(note, Float64Array.of(random.next(), 1), values({ text: 'x' })));
    else if (kind === 4) view.update([{ id, values: values({ email: `${random.next()}@y` }) }]);
    else if (kind === 5 && notes.length > 0)
      view.replaceVector(random.pick(notes), Float64Array.of(random.next(), 2));
    else if (kind === 6)
      view.putDerived(Uint8Array.of(9, random.below(20)), Buffer.alloc(random.below(9), 7));
    else if (view.incidentCount(id) === 0) {
      view.remove(id);
      alive = alive.filter((other) => other !== id);
    }
  };

  it('K02 is equal to the store that its entries are applied to, after groups with failures [CT3]', () => {
    for (let round = 0; round < 60; round++) {
      storage.commitGroup((group) => {
        for (let request = random.below(5); request >= 0; request--) {
          const [before, beforeNotes] = [alive, notes];
          [alive, notes] = [[...before], [...beforeNotes]];
          const isBad = random.chance(0.3);
          try {
            group.request(1_700_000_000_000 + round, (view) => {
              for (let i = random.below(12); i >= 0; i--) step(view);
              if (isBad) throw new RangeError('on purpose');
            });
          } catch {
            [alive, notes] = [before, beforeNotes];
          }
        }
      });
      if (round % 10 === 9) expectEqual();
    }
    expect(leader.entries.length).toBeGreaterThan(30);
    expect(check(follower.storage.env)).toEqual([]);
  });

  it('K07 nothing is recorded of what fails, of a try, and of nothing', () => {
    const before = leader.entries.length;
    expect(() =>
      write(storage, (view) => {
        view.createNode(gardener, values({ email: 'gone@x' }));
        throw new RangeError('no');
      }),
    ).toThrow('no');
    const schema = { ...garden, nodes: [...garden.nodes, node('Shed', { name: 'String' })] };
    const declarations = { schema, olderSchemas: [], migrations: [] };
    expect(storage.previewSchema(declarations, 0).status).toBe('compatible');
    storage.commitGroup(() => undefined);
    expect(leader.entries.length).toBe(before);
  });

  it('K03 trimming the vector log here counts no commit and is recorded nowhere', () => {
    const [before, state] = [leader.entries.length, readState(storage.env.meta)];
    storage.trimLog(2);
    expect(readTrimmed(storage.env.meta)).toBe(2);
    expect(storage.oldestLoggedSeq()).toBe(3);
    expect(leader.entries.length).toBe(before);
    expect(readState(storage.env.meta)).toEqual(state);
    // The follower's log is its own to trim.
    follow();
    expect(follower.storage.oldestLoggedSeq()).toBe(1);
    follower.storage.trimLog(2);
    expectEqual();
  });

  it('K04 a position is there with what it stands for', () => {
    expect(Buffer.from(follower.storage.position()!).toString()).toBe(String(followed - 1));
    expect(() =>
      follower.storage.follow(Buffer.from('never'), (apply) => {
        apply(0, metaKey.total(9), Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
        throw new RangeError('no');
      }),
    ).toThrow('no');
    expect(Buffer.from(follower.storage.position()!).toString()).toBe(String(followed - 1));
    expect(follower.storage.env.meta.has(metaKey.total(9))).toBe(false);
    const unknown = (): unknown =>
      follower.storage.follow(Buffer.from(''), (apply) => apply(99, Uint8Array.of(1), undefined));
    expect(unknown).toThrow(expect.objectContaining({ code: 'FORMAT_TOO_NEW' }));
  });

  it('K13 a new leader continues at the position of the former one', () => {
    const state = readState(follower.storage.env.meta);
    follower.storage.invalidateWriter();
    const id = write(
      follower.storage,
      (view) => view.createNode(gardener, values({ email: 'next@x' })),
      0,
    );
    expect(id).toBe(state.nextId);
    const { lastUuid } = readState(follower.storage.env.meta);
    expect(Buffer.compare(lastUuid, state.lastUuid)).toBe(1);
  });
});

describe('a store of one process', () => {
  it('K01 CT12 loads no client of a log: nothing of them is imported before an address names it', () => {
    const files = new Map(readSources('engine').map((file) => [file.path, file]));
    const met = new Set<string>();
    const visit = (path: string): void => {
      if (met.has(path)) return;
      met.add(path);
      // It imports a driver when it is asked for one.
      if (path === 'engine/cluster/log/drivers.ts') return;
      for (const { from, typeOnly } of files.get(path)?.imports ?? []) if (!typeOnly) visit(from);
    };
    visit('engine/internal.ts');
    expect(met.has('engine/cluster/log/drivers.ts')).toBe(true);
    const clients = [...met].filter((path) =>
      /^@nats-io|log-thread|log\/(jetstream|s3)/.test(path),
    );
    expect(clients).toEqual([]);
  });

  it('K08 only the log thread opens a log; creating or joining a cluster opens one temporarily', () => {
    const openers = readSources('engine')
      .filter(({ imports }) => imports.some(({ from }) => from.endsWith('log/drivers.ts')))
      .map(({ path }) => path);
    expect(openers.sort()).toEqual([
      'engine/cluster/role/find-leader.ts',
      'engine/cluster/role/log-thread.ts',
      'engine/database/create-cluster.ts',
    ]);
  });

  it('K01 CT12 has tables that record nothing', () => {
    const storage = openStorage(freshFolder(), { limits: defaultLimits, mode: 'create' });
    const tables = Object.values(storage.env).filter((member) => member instanceof Table);
    expect(tables).toHaveLength(10);
    expect(tables.some((table) => table instanceof ReplicatedTable)).toBe(false);
    storage.close();
  });
});
