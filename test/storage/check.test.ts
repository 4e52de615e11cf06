// `check` sees every kind of damage: each case spoils one thing in a sound store, behind the back
// of the writer.
import { describe, expect, it } from 'vitest';
import { check } from '../../engine/storage/check/check.js';
import type { Env } from '../../engine/storage/table/env.js';
import { indexKey, prefixOf } from '../../engine/storage/index/index-key.js';
import { metaKey, readState, writeState, writeTotal } from '../../engine/storage/table/meta.js';
import { uuidAt } from '../../engine/storage/record/record.js';
import { freshFolder, labelNamed, openGarden, values, write } from './support/garden.js';

const path = freshFolder();
const storage = openGarden(path);
const label = (name: string) => labelNamed(storage, name);
const [gardener, plant, grows, note] = ['Gardener', 'Plant', 'Grows', 'Note'].map(label);
const property = (type: string, name: string) =>
  label(type).properties.find((candidate) => candidate.name === name)!;
const { a, p, e, n } = write(storage, (view) => {
  const a = view.createNode(gardener!, values({ email: 'a@x', city: 'Lund' }));
  const p = view.createNode(plant!, values({ species: 'rose' }));
  const e = view.createEdge(grows!, a, p, values({ rating: 3 }));
  const n = view.createVector(note!, Float64Array.of(1, 2), values({ lang: 'en' }));
  view.createNode(gardener!, values({ email: 'b@x', city: 'Lund' }));
  return { a, p, e, n };
});

const emailKey = (email: string) => indexKey(prefixOf(property('Gardener', 'email'), email), 0);
const word = (value: number) => Uint8Array.of(value, 0, 0, 0);

/** Changes a private copy of a value. */
function edit(value: Uint8Array | undefined, change: (bytes: Uint8Array) => void): Uint8Array {
  const bytes = value!.slice();
  change(bytes);
  return bytes;
}

const cases: [what: string, invariants: string[], spoil: (env: Env) => void][] = [
  ['a missing end', ['I3', 'I5', 'I6', 'I16'], (env) => env.records.remove(p)],
  [
    'an end of another type',
    ['I3', 'I4'],
    (env) =>
      env.records.put(
        e,
        edit(env.records.get(e), (bytes) => bytes.set(word(n), 28)),
      ),
  ],
  ['a missing out entry', ['I4'], (env) => env.out.remove({ id: a, label: grows!.id, chunk: 0 })],
  ['a missing in entry', ['I4'], (env) => env.in.remove({ id: p, label: grows!.id, chunk: 0 })],
  [
    'a wrong far end',
    ['I4'],
    (env) => {
      const key = { id: a, label: grows!.id, chunk: 0 };
      env.out.put(
        key,
        edit(env.out.get(key), (bytes) => bytes.set(word(n), 12)),
      );
    },
  ],
  ['a chunk of no head', ['I4'], (env) => env.out.put({ id: a, label: 99, chunk: 1 }, word(1))],
  [
    'a missing chunk',
    ['I4'],
    (env) => {
      const key = { id: a, label: grows!.id, chunk: 0 };
      env.out.put(
        key,
        edit(env.out.get(key), (bytes) => bytes.set(word(1), 0)),
      );
    },
  ],
  ['a missing index entry', ['I5'], (env) => env.index.remove(emailKey('a@x'))],
  ['an index entry of another value', ['I5'], (env) => env.index.put(emailKey('z@x'), word(a))],
  [
    'a unique value twice',
    ['I5'],
    (env) => env.index.put(emailKey('a@x'), Uint8Array.from([...word(a), ...word(n + 1)])),
  ],
  [
    'an index of no property',
    ['I5'],
    (env) => env.index.put(Uint8Array.of(0, 0, 9, 9, 0, 0, 0, 0), word(a)),
  ],
  ['a wrong count', ['I6'], (env) => writeTotal(env.meta, plant!.id, { count: 7, dimension: 0 })],
  ['an unlisted element', ['I6'], (env) => env.labels.remove({ label: plant!.id, block: 0 })],
  [
    'a listed stranger',
    ['I6'],
    (env) => {
      const key = { label: plant!.id, block: 0 };
      env.labels.put(
        key,
        edit(env.labels.get(key), (bytes) => bytes.fill(255, 0, 1)),
      );
    },
  ],
  ['a gap in the log', ['I8'], (env) => env.vlog.remove(1)],
  [
    'a sequence given out again',
    ['I8'],
    (env) => writeState(env.meta, { ...readState(env.meta), nextSeq: 1 }),
  ],
  ['a missing embedding', ['I9'], (env) => env.vectors.remove(n)],
  ['an embedding of nothing', ['I9'], (env) => env.vectors.put(999, env.vectors.get(n)!)],
  [
    'an embedding of another dimension',
    ['I9'],
    (env) => env.vectors.put(n, Uint8Array.from([...new Uint8Array(8), 8])),
  ],
  [
    'an embedding that is not finite',
    ['I9'],
    (env) =>
      env.vectors.put(
        n,
        edit(env.vectors.get(n), (bytes) => bytes.fill(255, 0, 8)),
      ),
  ],
  [
    'an unknown label',
    ['I15', 'I16'],
    (env) =>
      env.records.put(
        n,
        edit(env.records.get(n), (bytes) => bytes.set([200, 3], 0)),
      ),
  ],
  [
    "a kind that is not the label's",
    ['I15'],
    (env) =>
      env.records.put(
        n,
        edit(env.records.get(n), (bytes) => bytes.set([0], 2)),
      ),
  ],
  [
    'an id beyond the next',
    ['I16'],
    (env) => writeState(env.meta, { ...readState(env.meta), nextId: 2 }),
  ],
  ['a missing uuid', ['I16'], (env) => env.uuid.remove(env.records.get(p)!.slice(uuidAt.own, 24))],
  ['a uuid of nothing', ['I16'], (env) => env.uuid.put(new Uint8Array(16).fill(7), word(200))],
  [
    'a catalog changed by hand',
    ['I17'],
    (env) => {
      const text = Buffer.from(env.meta.get(metaKey.catalog)!).toString();
      env.meta.put(metaKey.catalog, Buffer.from(text.replace('"nextIndex":', '"nextIndex":1')));
    },
  ],
];

describe('check', () => {
  it('finds nothing in a sound store', () => {
    expect(check(storage.env)).toEqual([]);
  });

  it.each(cases)('finds %s', (_, invariants, spoil) => {
    // The damage is looked at inside a transaction that is given up.
    storage.env.transact(() => {
      spoil(storage.env);
      const found = new Set(check(storage.env).map(({ invariant }) => invariant));
      expect([...found]).toEqual(expect.arrayContaining(invariants));
      return false;
    });
    expect(check(storage.env)).toEqual([]);
  });
});
