// `verify` names every disagreement between rows and what is made from them: one of each kind is
// planted. What is derived is mended by `--repair-derived`, after which verify is clean and every
// answer is right; what is not makes the data count as damaged at their root.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { repairDerived } from '../../engine/database/maintenance/repair.js';
import { derivedInvariants, verifyStorage } from '../../engine/database/maintenance/verify.js';
import type { Env } from '../../engine/storage/table/env.js';
import { indexKey, prefixOf } from '../../engine/storage/index/index-key.js';
import { metaKey, readState, writeState, writeTotal } from '../../engine/storage/table/meta.js';
import { uuidAt } from '../../engine/storage/record/record.js';
import type { Scalar } from '../../engine/base/value.js';
import type { SharedIndex } from '../../engine/vector/shared-index.js';
import { inspectSnapshot, writeSnapshot } from '../../engine/vector/snapshot.js';
import { LoneDatabase, dbUuid } from './lone-database.js';

const source = `
N::Item { UNIQUE INDEX key: String, INDEX kind: String, INDEX size: I64, note: String }
V::Emb { INDEX key: String }
E::Knows UNIQUE { From: Item, To: Item }
E::Shows { From: Item, To: Emb, Properties: { at: I64 } }
QUERY add(key: String, kind: String, size: I64, note: String) =>
  i <- AddN<Item>({ key: key, kind: kind, size: size, note: note }) RETURN i::ID
QUERY addV(key: String, vec: [F64]) => v <- AddV<Emb>(vec, { key: key }) RETURN v::ID
QUERY knows(a: ID, b: ID) => e <- AddE<Knows>::From(a)::To(b) RETURN e::ID
QUERY shows(a: ID, b: ID) => e <- AddE<Shows>({ at: 1 })::From(a)::To(b) RETURN e::ID
QUERY byKey(key: String) => i <- N<Item>({ key: key }) RETURN i::{key}
QUERY byKind(kind: String) => i <- N<Item>({ kind: kind }) RETURN i::{key}
QUERY bySize() => i <- N<Item>::WHERE(_::{size}::LT(3)) RETURN i::{key}
QUERY find(w: String) => i <- SearchBM25<Item>(w, 1000) RETURN i::{key}
QUERY near() => v <- SearchV<Emb>([1.0, 0.2, 0.1], 1000) RETURN v::{key}
`;
/** Enough for a value that is spread out in its index, and for older blocks of postings. */
const items = 300;
const vectors = 20;

let database: LoneDatabase;
const uuids: string[] = [];
let answers: string;

beforeAll(() => {
  database = new LoneDatabase().open(source);
  for (let i = 0; i < items; i++) {
    const kind = i % 2 === 0 ? 'even' : `k${i % 8}`;
    const note = `heron ${i % 3 === 0 ? 'stork' : ''} word${i}`;
    uuids.push(database.call('add', { key: `i${i}`, kind, size: i % 7, note }).i as string);
  }
  for (let i = 0; i < vectors; i++) {
    const vec = [Math.cos(i), Math.sin(i), i / vectors];
    const id = database.call('addV', { key: `v${i}`, vec }).v as string;
    database.call('shows', { a: uuids[i], b: id });
  }
  for (let i = 1; i < 5; i++) database.call('knows', { a: uuids[0], b: uuids[i] });
  database.snapshot();
  database.call('addV', { key: 'late', vec: [1, 1, 1] });
  answers = allAnswers();
});
afterAll(() => database.dispose());

function allAnswers(): string {
  return JSON.stringify([
    database.call('byKey', { key: 'i17' }),
    database.call('byKind', { kind: 'even' }),
    database.call('byKind', { kind: 'k3' }),
    database.call('bySize'),
    ...['heron', 'stork', 'word9'].map((w) => database.call('find', { w })),
    database.call('near'),
  ]);
}

const verify = () =>
  verifyStorage(database.storage, { dbUuid, dataDir: database.folder }).map(
    ({ invariant, what }) => `${invariant} ${what}`,
  );
const isDerived = (line: string): boolean => derivedInvariants.has(line.split(' ')[0]!);
const env = (): Env => database.storage.env;
const label = (kind: 'node' | 'edge' | 'vector', name: string) =>
  database.storage.catalog.find(kind, name)!;
const idOf = (uuid: number): number =>
  Buffer.from(env().uuid.get(Buffer.from(uuids[uuid]!.replaceAll('-', ''), 'hex'))!).readUInt32LE(
    0,
  );
const prefix = (name: string, value: Scalar): Uint8Array => {
  const property = label('node', 'Item').properties.find((each) => each.name === name)!;
  return prefixOf(property, value);
};
const entry = (name: string, value: Scalar, id = 0): Uint8Array =>
  indexKey(prefix(name, value), id);
const words = (...list: number[]): Uint8Array => new Uint8Array(Uint32Array.from(list).buffer);
const hex = (text: string): Uint8Array => Buffer.from(text, 'hex');
/** A key of the keyword index of items: kind, term. */
const text = (kind: number, term: string, rest = ''): Uint8Array => {
  const { id } = label('node', 'Item');
  return Buffer.concat([
    Buffer.from([0x54, kind, id >> 8, id & 255]),
    Buffer.from(term),
    hex(rest),
  ]);
};
/** The first key of the keyword index that begins so. */
const firstText = (kind: number, term: string): Uint8Array => {
  const start = text(kind, term);
  return env().derived.keys({ start, end: Buffer.concat([start, hex('ffff')]), limit: 1 })[0]!;
};
function edit(bytes: Uint8Array | undefined, at: number, value: number): Uint8Array {
  const copy = bytes!.slice();
  copy[at < 0 ? copy.length + at : at] = value;
  return copy;
}

const snapshotFile = (): string =>
  join(database.folder, 'vec', readdirSync(join(database.folder, 'vec')).sort().at(-1)!);

/** Makes the snapshot one of an index that was changed behind the back of all. */
function spoilSnapshot(change: (index: SharedIndex) => void): void {
  const file = snapshotFile();
  const seq = Number(file.split('.').at(-2));
  const typeId = label('vector', 'Emb').id;
  const { index } = inspectSnapshot(file, 'Emb', { dbUuid, typeId, dimension: 3 });
  change(index!);
  writeSnapshot(index!, file, { dbUuid, typeId, seq });
}
const vectorIds = (): number[] => [
  ...[...database.storage.reader().scan(label('vector', 'Emb').id)].flatMap((ids) => [...ids]),
];

const derived: [what: string, named: RegExp, spoil: (env: Env) => void][] = [
  [
    'a missing entry of a unique index',
    /^I5 Item.key has/,
    (e) => e.index.remove(entry('key', 'i3')),
  ],
  [
    'a missing entry among many',
    /^I5 Item.kind has/,
    (e) => e.index.remove(entry('kind', 'even', idOf(0))),
  ],
  [
    'the missing mark of many',
    /^I5 .*without the mark/,
    (e) => e.index.remove(entry('kind', 'even')),
  ],
  [
    'an entry beside a list, which no look-up sees',
    /^I5 .*without the mark/,
    (e) => {
      const list = e.index.get(entry('size', 2))!;
      e.index.put(entry('size', 2), list.slice(0, -4));
      const last = Buffer.from(list).readUInt32LE(list.length - 4);
      e.index.put(entry('size', 2, last), new Uint8Array(0));
    },
  ],
  [
    'an extra entry',
    /^I5 .*is not its value/,
    (e) => e.index.put(entry('kind', 'odd'), words(idOf(2))),
  ],
  [
    'an entry of nobody',
    /^I5 .*is not its value/,
    (e) => e.index.put(entry('kind', 'odd'), words(99999)),
  ],
  [
    'an entry under another value',
    /^I5 .*is not its value/,
    (e) => e.index.put(entry('size', 99), words(idOf(2))),
  ],
  [
    'a taken unique value',
    /^I5 .*taken value/,
    (e) => e.index.put(entry('key', 'i3'), words(idOf(3), idOf(4))),
  ],
  [
    'a list that is not in order',
    /^I5 .*not in order/,
    (e) => e.index.put(entry('kind', 'k3'), words(idOf(11), idOf(3))),
  ],
  [
    'a list of half an id',
    /^I5 .*a list of/,
    (e) => e.index.put(entry('kind', 'k9'), hex('010203')),
  ],
  [
    'an index of no property',
    /^I5 index .*no property/,
    (e) => e.index.put(hex('0000ffff0000000000'), words(1)),
  ],
  ['a missing term', /^I7 no postings of term word5/, (e) => e.derived.remove(text(1, 'word5'))],
  [
    'an extra term',
    /^I7 postings of term zebra/,
    (e) => e.derived.put(text(1, 'zebra'), e.derived.get(text(1, 'word5'))!),
  ],
  [
    'postings of another document',
    /^I7 postings of term word5 /,
    (e) => e.derived.put(text(1, 'word5'), e.derived.get(text(1, 'word6'))!),
  ],
  [
    'another length of a document',
    /^I7 postings of term word5 /,
    (e) => e.derived.put(text(1, 'word5'), edit(e.derived.get(text(1, 'word5')), -1, 9)),
  ],
  [
    'another document frequency',
    /^I7 postings of term word5 /,
    (e) => e.derived.put(text(1, 'word5'), edit(e.derived.get(text(1, 'word5')), 0, 9)),
  ],
  [
    'bytes that are no postings',
    /^I7 postings of term word5 /,
    (e) => e.derived.put(text(1, 'word5'), hex('ff')),
  ],
  [
    'a missing older block',
    /^I7 postings of term heron/,
    (e) => e.derived.remove(firstText(3, 'heron')),
  ],
  [
    'a missing directory',
    /^I7 (postings|a block) of term heron/,
    (e) => e.derived.remove(text(2, 'heron')),
  ],
  [
    'a directory of no term',
    /^I7 a directory of term zebra/,
    (e) => e.derived.put(text(2, 'zebra'), hex('0000000100')),
  ],
  [
    'a block that no directory lists',
    /^I7 a block of term heron/,
    (e) => e.derived.put(text(3, 'heron', '0000ffffff'), e.derived.get(firstText(3, 'heron'))!),
  ],
  [
    'wrong totals',
    /^I7 totals of label/,
    (e) => e.derived.put(text(0, ''), edit(e.derived.get(text(0, '')), 1, 0x70)),
  ],
  [
    'totals of no label',
    /^I7 keyword entry .*of nobody/,
    (e) => e.derived.put(hex('5400ffff'), new Uint8Array(16)),
  ],
  [
    'postings of an edge type',
    /^I7 keyword entry .*of nobody/,
    (e) => {
      const { id } = label('edge', 'Shows');
      const key = Buffer.from([0x54, 1, id >> 8, id & 255, 0x61]);
      e.derived.put(key, e.derived.get(text(1, 'word5'))!);
    },
  ],
  [
    'an entry of no kind',
    /^I7 keyword entry .*of nobody/,
    (e) => e.derived.put(hex('540900'), hex('00')),
  ],
  ['postings that nobody keeps up', /^I7 (postings|totals)/, (e) => e.derived.remove(hex('5404'))],
  [
    'a log that ends otherwise',
    /^I10 the log ends with/,
    (e) => {
      const last = readState(e.meta).nextSeq - 1;
      e.vlog.put(last, edit(e.vlog.get(last), 0, 1));
    },
  ],
  [
    'a log of another label',
    /^I10 the log ends with/,
    (e) => {
      const last = readState(e.meta).nextSeq - 1;
      e.vlog.put(last, edit(e.vlog.get(last), 2, 77));
    },
  ],
  [
    'a log entry that is none',
    /^I10 log entry/,
    (e) => e.vlog.put(readState(e.meta).nextSeq - 1, hex('00')),
  ],
  [
    'a vector that the snapshot lacks',
    /^I10 snapshot .*lacks 1 /,
    () => spoilSnapshot((index) => index.delete(vectorIds()[3]!)),
  ],
  [
    'a vector that is gone from the rows',
    /^I10 snapshot .*holds 1 that are gone/,
    () => spoilSnapshot((index) => index.put(88888, Float64Array.of(1, 2, 3))),
  ],
  [
    'other numbers in the snapshot',
    /^I10 snapshot .*other numbers/,
    () => spoilSnapshot((index) => index.put(vectorIds()[5]!, Float64Array.of(-3, 2, 9))),
  ],
  [
    'a snapshot that claims to reach further',
    /^I10 snapshot .*lacks 1 /,
    (e) => {
      const { id } = label('vector', 'Emb');
      const note = { file: snapshotFile().split('/').at(-1), seq: readState(e.meta).nextSeq - 1 };
      e.derived.put(
        Buffer.from([0xff, 0x72, id >> 8, id & 255]),
        Buffer.from(JSON.stringify(note)),
      );
    },
  ],
  [
    'a flipped byte of a snapshot',
    /^I13 snapshot .*checksum/,
    () => {
      const bytes = readFileSync(snapshotFile());
      bytes[5000]! ^= 1;
      writeFileSync(snapshotFile(), bytes);
    },
  ],
  [
    'a snapshot cut short',
    /^I13 snapshot .*truncated/,
    () => writeFileSync(snapshotFile(), readFileSync(snapshotFile()).subarray(0, -100)),
  ],
];

describe('derived data', () => {
  test.each(derived)('%s', (_, named, spoil) => {
    expect(verify()).toEqual([]);
    env().transact(() => {
      spoil(env());
      return true;
    });
    const found = verify();
    expect(found.filter((line) => named.test(line))).not.toEqual([]);
    expect(found.filter((line) => !isDerived(line))).toEqual([]);
    const { limits, folder: dataDir } = database;
    repairDerived(database.storage, {
      limits,
      textEnabled: true,
      textLanguage: 'english',
      dataDir,
    });
    expect(verify()).toEqual([]);
    if (/I1/.test(named.source)) {
      // What the next start makes of it.
      database.kill();
      database.open(source);
    }
    expect(allAnswers()).toBe(answers);
    database.snapshot();
    const again = database.call('addV', { key: 'late', vec: [1, 1, 1] });
    expect(again.v).toHaveLength(36);
    answers = allAnswers();
  });
});

const primary: [what: string, invariant: string, spoil: (env: Env) => void][] = [
  [
    'a missing out entry',
    'I4',
    (e) => e.out.remove({ id: idOf(7), label: label('edge', 'Shows').id, chunk: 0 }),
  ],
  [
    'a missing in entry',
    'I4',
    (e) => e.in.remove({ id: idOf(1), label: label('edge', 'Knows').id, chunk: 0 }),
  ],
  [
    'a list of another label',
    'I4',
    (e) => {
      const from = { id: idOf(0), label: label('edge', 'Knows').id, chunk: 0 };
      e.out.put({ ...from, id: idOf(9) }, e.out.get(from)!);
    },
  ],
  [
    'an end of another type',
    'I3',
    (e) => {
      const id = edgeId(e, 'Knows');
      e.records.put(
        id,
        edit(edit(e.records.get(id), 28, vectorIds()[0]! & 255), 29, vectorIds()[0]! >> 8),
      );
    },
  ],
  ['a missing end', 'I3', (e) => e.records.remove(idOf(1))],
  [
    'a second edge of a UNIQUE type',
    'I3',
    (e) => {
      const key = { id: idOf(0), label: label('edge', 'Knows').id, chunk: 0 };
      const list = e.out.get(key)!;
      const copy = list.slice();
      copy.set(list.subarray(12, 16), 20);
      e.out.put(key, copy);
    },
  ],
  [
    'an unlisted element',
    'I6',
    (e) => e.labels.remove({ label: label('node', 'Item').id, block: 0 }),
  ],
  ['a list of another length', 'I6', (e) => e.labels.put({ label: 1, block: 9 }, hex('01'))],
  ['an empty block', 'I6', (e) => e.labels.put({ label: 1, block: 9 }, new Uint8Array(256))],
  [
    'a wrong count',
    'I6',
    (e) => writeTotal(e.meta, label('node', 'Item').id, { count: 7, dimension: 0 }),
  ],
  ['a count of no label', 'I6', (e) => writeTotal(e.meta, 999, { count: 7, dimension: 0 })],
  ['a missing uuid', 'I16', (e) => e.uuid.remove(e.records.get(idOf(3))!.slice(uuidAt.own, 24))],
  [
    'a uuid of another element',
    'I16',
    (e) => e.uuid.put(e.records.get(idOf(3))!.slice(uuidAt.own, 24), words(idOf(4))),
  ],
  ['a uuid of nothing', 'I16', (e) => e.uuid.put(new Uint8Array(16).fill(9), words(77777))],
  ['an id beyond the next', 'I16', (e) => writeState(e.meta, { ...readState(e.meta), nextId: 2 })],
  ['a gap in the log', 'I8', (e) => e.vlog.remove(readState(e.meta).nextSeq - 1)],
  ['a log beyond its end', 'I8', (e) => e.vlog.put(readState(e.meta).nextSeq, new Uint8Array(8))],
  ['a missing embedding', 'I9', (e) => e.vectors.remove(vectorIds()[2]!)],
  ['an embedding of a node', 'I9', (e) => e.vectors.put(idOf(0), e.vectors.get(vectorIds()[2]!)!)],
  [
    'an embedding of another length',
    'I9',
    (e) => e.vectors.put(vectorIds()[2]!, new Uint8Array(9).fill(8, 8)),
  ],
  [
    'a catalog changed by hand',
    'I17',
    (e) => changeCatalog(e, '"kind":"node"', '"kind" :"node"', '"nextIndex":', '"nextIndex":1'),
  ],
  [
    'another database',
    'I17',
    (e) => e.meta.put(metaKey.databaseUuid, Buffer.from(dbUuid.replace('1', '2'))),
  ],
  ['an unknown label', 'I15', (e) => e.records.put(idOf(3), edit(e.records.get(idOf(3)), 1, 9))],
  ['another kind', 'I15', (e) => e.records.put(idOf(3), edit(e.records.get(idOf(3)), 2, 2))],
];

function edgeId(e: Env, name: string): number {
  const list = e.out.get({ id: idOf(0), label: label('edge', name).id, chunk: 0 })!;
  const found = database.storage.reader().scan(label('edge', name).id);
  expect(list.length).toBeGreaterThan(8);
  return [...found][0]![0]!;
}

function changeCatalog(e: Env, ...pairs: string[]): void {
  let json = Buffer.from(e.meta.get(metaKey.catalog)!).toString();
  for (let i = 0; i < pairs.length; i += 2) json = json.replace(pairs[i]!, pairs[i + 1]!);
  e.meta.put(metaKey.catalog, Buffer.from(json));
}

describe('data that cannot be made again', () => {
  test.each(primary)('%s', (_, invariant, spoil) => {
    expect(verify()).toEqual([]);
    env().transact(() => {
      spoil(env());
      const found = verify();
      expect(found.filter((line) => line.startsWith(`${invariant} `))).not.toEqual([]);
      expect(found.every(isDerived)).toBe(false);
      return false;
    });
    expect(verify()).toEqual([]);
  });
});
