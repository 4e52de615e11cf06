// A database as text (operations.md 8): one line that names the format and holds the catalog, one line
// per element in the order of creation, one line with their number and a SHA-256 of all before it.
// The lines of elements are rows of a bulk load. Streaming: a few hundred elements are in memory at a
// time. Invariant: dump, load, dump gives the same bytes.
import { createHash } from 'node:crypto';
import { ByteWriter } from '../../base/bytes.js';
import { TrellisError } from '../../base/errors.js';
import { printUuid } from '../../base/id.js';
import { intact } from '../../base/intact.js';
import type { PropertyType } from '../../base/schema.js';
import { type FullCatalog, catalogOf } from '../../storage/catalog/catalog.js';
import { type StoredCatalog, readCatalog, unhidden } from '../../storage/catalog/catalog-record.js';
import { readFragment } from '../../storage/record/fragment.js';
import type { Storage } from '../../storage/open-storage.js';
import { readTotal } from '../../storage/table/meta.js';
import { fragmentOf, labelOf, uuidAt } from '../../storage/record/record.js';
import type { Label } from '../../storage/table/store.js';
import { readVector } from '../../storage/record/vector-record.js';
import type { Env, Table } from '../../storage/table/env.js';
import { base64OfVector } from '../load/row/base64.js';

export const dumpVersion = 1;

const blockBytes = 256 * 1024;
const idsPerRead = 512;
const quotedTypes: ReadonlySet<string> = new Set(['I64', 'U64', 'U128']);

export interface DumpOptions {
  /** Hears of an element that cannot be read and is left out; absent: that fails. */
  onDamage?: (id: number, error: TrellisError) => void;
}

/** Where the rows of a dump are read. */
export interface RowSource {
  stored: StoredCatalog;
  /** Ascending. */
  ids: Iterable<number>;
  records: Pick<Table<number>, 'get'>;
  vectors: Pick<Table<number>, 'peek'>;
  /** How many there must be, where that is known. */
  total?: number;
}

/** The dump of a store in blocks of whole lines. */
export function dump(storage: Storage, options: DumpOptions = {}): Generator<Uint8Array> {
  const { env } = storage;
  env.refresh();
  const stored = readCatalog(env.meta);
  let total = 0;
  for (const { id } of stored.labels) total += readTotal(env.meta, id).count;
  const { records, vectors } = env;
  return dumpRows({ stored, ids: idsOf(env), records, vectors, total }, options);
}

/** The dump of rows in blocks of whole lines. */
export function* dumpRows(source: RowSource, options: DumpOptions = {}): Generator<Uint8Array> {
  const { stored, ids, total } = source;
  const catalog = catalogOf(unhidden(stored));
  const hash = createHash('sha256');
  const writer = new ByteWriter(2 * blockBytes);
  const flush = (): Uint8Array => {
    const block = writer.take();
    hash.update(block);
    return block;
  };
  writer.utf8(`${JSON.stringify({ trellis_dump: dumpVersion, catalog: stored })}\n`);
  let count = 0;
  for (const id of ids) {
    const before = writer.length;
    try {
      writeElement(writer, source, catalog, id);
      count++;
    } catch (error) {
      if (!(error instanceof TrellisError) || options.onDamage === undefined) throw error;
      writer.length = before;
      options.onDamage(id, error);
    }
    if (writer.length >= blockBytes) yield flush();
  }
  // A page that lost elements shows as fewer of them.
  const isWhole = options.onDamage !== undefined || total === undefined || count === total;
  intact(isWhole, `${count} elements can be read of ${total}`);
  yield flush();
  const sha256 = hash.digest('hex');
  yield Buffer.from(`${JSON.stringify({ trellis_dump_end: { count, sha256 } })}\n`);
}

function* idsOf(env: Env): Generator<number> {
  for (let start = 0; ; ) {
    const ids = env.records.keys({ start, end: 0xffffffff, limit: idsPerRead });
    yield* ids;
    if (ids.length < idsPerRead) return;
    start = ids[ids.length - 1]! + 1;
  }
}

function writeElement(
  writer: ByteWriter,
  source: RowSource,
  catalog: FullCatalog,
  id: number,
): void {
  const record = source.records.get(id);
  intact(record, `element ${id} cannot be found again`);
  const label = catalog.label(labelOf(record));
  writer.ascii(`{"${label.kind}":`);
  writer.utf8(JSON.stringify(label.name));
  writer.ascii(`,"id":"${printUuid(record, uuidAt.own)}"`);
  if (label.kind === 'edge') {
    const [from, to] = [printUuid(record, uuidAt.from), printUuid(record, uuidAt.to)];
    writer.ascii(`,"from":"${from}","to":"${to}"`);
  } else if (label.kind === 'vector') writeVector(writer, source, id);
  writeProperties(writer, label, record);
  writer.ascii('}\n');
}

function writeVector(writer: ByteWriter, { vectors }: RowSource, id: number): void {
  const value = vectors.peek(id);
  const width = value?.[value.length - 1] === 4 ? 'f32' : 'f64';
  const vector = readVector(vectors, id);
  intact(vector, `the embedding of element ${id} is missing`);
  writer.ascii(`,"${width}":"${base64OfVector(vector, width)}"`);
}

function writeProperties(writer: ByteWriter, label: Label, record: Uint8Array): void {
  writer.ascii(',"properties":{');
  let isFirst = true;
  for (const { name, slot, type } of label.properties) {
    const { start, end } = fragmentOf(record, slot);
    if (start === end) continue;
    if (!isFirst) writer.byte(44);
    isFirst = false;
    writer.utf8(JSON.stringify(name));
    writer.byte(58);
    if (isWide(type)) writer.utf8(JSON.stringify(texts(readFragment(record, start, end, type))));
    else writer.append(record, start, end);
  }
  writer.byte(125);
}

/** Integers that many readers of JSON would round are written as texts. */
const isWide = (type: PropertyType): boolean =>
  type.kind === 'list' ? isWide(type.of) : quotedTypes.has(type.name);

const texts = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(texts) : value === null ? null : String(value);
