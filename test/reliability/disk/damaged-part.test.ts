// One damaged value beside writes that share a transaction: whatever table it is in, exactly those
// requests fail that meet it alone as well; the others are done, and later ones go on.
import { describe, expect, it } from 'vitest';
import { TrellisError, fail } from '../../../engine/base/errors.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import { compile } from '../../../engine/lang/compile.js';
import { type Storage, openStorage } from '../../../engine/storage/open-storage.js';
import { addMissingTexts } from '../../../engine/database/maintenance/rebuild-text-index.js';
import { verifyStorage } from '../../../engine/database/maintenance/verify.js';
import type { WriteView } from '../../../engine/storage/table/view-types.js';
import { createTextIndex } from '../../../engine/text/text-index.js';
import { freshFolder } from '../../storage/support/garden.js';
import { nextTurn } from '../../support/run/next-turn.js';
import { openEmbedded } from '../../support/server/embedded-server.js';
import { Random } from '../../support/random.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const text = createTextIndex(defaultLimits);
const words = ['wing', 'flow', 'heat', 'shock', 'layer'];
const source =
  'N::Thing { INDEX name: String, body: String }\nE::Link { From: Thing, To: Thing }\n';

const { program } = compile([{ path: 'main.hx', text: source }], { compat: false });

type Request = (view: WriteView) => void;
type Outcome = string;

function newStorage(): Storage {
  const storage = openStorage(freshFolder(), { limits: defaultLimits, mode: 'create' });
  storage.applySchema(program!, { text, nowMs: 0 });
  addMissingTexts(storage, { limits: defaultLimits, textEnabled: true, textLanguage: 'english' });
  return storage;
}

/** Requests by a seed; `ids` are of things that are there, to which `onMade` may add. */
function requestsOf(
  random: Random,
  storage: Storage,
  count: number,
  ids: readonly number[],
  onMade: (id: number) => void = () => undefined,
): Request[] {
  const thing = storage.catalog.find('node', 'Thing')!;
  const link = storage.catalog.find('edge', 'Link')!;
  const create = (view: WriteView, name: string, body: string): number => {
    const id = view.createNode(thing, new Map(Object.entries({ name, body })));
    text.add(view, thing.id, id, [name, body]);
    return id;
  };
  return Array.from({ length: count }, () => {
    const name = `name${random.below(4)}`;
    const body = `${random.pick(words)} ${random.pick(words)}`;
    const word = random.pick(words);
    const [from, to] = [random.below(5), random.below(5)];
    const kind = random.below(8);
    return (view) => {
      if (kind < 4 || ids.length === 0) return onMade(create(view, name, body));
      if (kind === 4) text.search(view, thing.id, word, 5);
      else view.createEdge(link, ids[from % ids.length]!, ids[to % ids.length]!, new Map());
    };
  });
}

/** Runs requests in one group; what became of each. */
function runGroup(storage: Storage, requests: readonly Request[]): Outcome[] {
  let outcomes: Outcome[] = [];
  storage.commitGroup((group) => {
    outcomes = requests.map((request) => {
      try {
        group.request(0, request);
        return 'done';
      } catch (error) {
        if (!(error instanceof TrellisError)) throw error;
        return error.code;
      }
    });
  });
  return outcomes;
}

const tables = ['derived', 'index', 'labels', 'out', 'in'] as const;
const printed = (key: unknown): string =>
  key instanceof Uint8Array ? Buffer.from(key).toString('hex') : JSON.stringify(key);

/** Makes every look at one key of a table fail; gives what ends that. */
function damage(storage: Storage, table: (typeof tables)[number], key: string): () => void {
  const target = storage.env[table] as unknown as Record<string, (key: unknown) => unknown>;
  const looks = ['get', 'peek'] as const;
  for (const look of looks) {
    const sound = target[look]!.bind(target);
    target[look] = (asked) => {
      if (printed(asked) === key) fail('DATA_CORRUPT', { what: `${table} ${key}` });
      return sound(asked);
    };
  }
  return () => {
    for (const look of looks) delete target[look];
  };
}

function keysOf(storage: Storage, table: (typeof tables)[number]): string[] {
  const ends = {
    bytes: { start: Uint8Array.of(0), end: new Uint8Array(64).fill(255) },
    labels: { start: { label: 0, block: 0 }, end: { label: 65_535, block: 0xffff_ffff } },
    edges: { start: { id: 0, label: 0, chunk: 0 }, end: { id: 0xffff_ffff, label: 0, chunk: 0 } },
  };
  const span = table === 'labels' ? ends.labels : ends[table.length < 4 ? 'edges' : 'bytes'];
  const source = storage.env[table] as unknown as { keys(span: object): unknown[] };
  return source.keys(span).map(printed);
}

/** The same history, then the same requests in groups of `size` beside the same damaged key. */
function play(seed: number, table: (typeof tables)[number], size: number) {
  const random = new Random(seed);
  const storage = newStorage();
  const ids: number[] = [];
  const history = random.pick([5, 40, 200]);
  const note = (id: number): void => void ids.push(id);
  for (let i = 0; i < 3; i++) runGroup(storage, requestsOf(random, storage, history, ids, note));
  const key = random.pick(keysOf(storage, table));
  const requests = requestsOf(random, storage, 12, ids);
  const mend = damage(storage, table, key);
  const outcomes: Outcome[] = [];
  for (let at = 0; at < requests.length; at += size) {
    outcomes.push(...runGroup(storage, requests.slice(at, at + size)));
  }
  mend();
  const faults = verifyStorage(storage);
  const count = storage.reader().count(storage.catalog.find('node', 'Thing')!.id);
  storage.close();
  return { outcomes, faults, count };
}

describe('a damaged value', () => {
  it.each(tables)('fails only the requests that meet it (%s)', async (table) => {
    let failed = 0;
    for (let seed = 1; seed <= (long ? 300 : 4); seed++) {
      await nextTurn();
      const together = play(seed, table, 12);
      const alone = play(seed, table, 1);
      expect(together.outcomes, `seed ${seed}`).toEqual(alone.outcomes);
      expect(together.count).toBe(alone.count);
      expect(together.faults).toEqual([]);
      failed += together.outcomes.filter((outcome) => outcome === 'DATA_CORRUPT').length;
    }
    expect(failed).toBeGreaterThan(0);
  });
});

describe('a commit whose publication fails', () => {
  it('is not answered as undone', async () => {
    const project = { sources: { 'main.hx': `${source}${queries}` }, config: {} };
    const opened = await openEmbedded(project, undefined, { failpoint: 'W10@2:throw' });
    const { db, folder } = opened;
    expect(await db.call('add', { name: 'one' })).toEqual({ t: { name: 'one' } });
    expect(await db.call('add', { name: 'two' })).toEqual({ t: { name: 'two' } });
    await expect(db.call('add', { name: 'three' })).rejects.toMatchObject({ code: 'READ_ONLY' });
    expect(await db.call('count')).toEqual({ n: 2 });
    await db.close();
    const again = await openEmbedded(project, folder);
    expect(await again.db.call('count')).toEqual({ n: 2 });
    await again.dispose();
  });
});

const queries = `
QUERY add(name: String) => t <- AddN<Thing>({name: name, body: name}) RETURN t::{name}
QUERY count() => n <- N<Thing>::COUNT RETURN n
`;
