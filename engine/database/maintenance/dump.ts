// Writes a database as text. The first line has the format and the catalog. One line per element follows, in
// order of creation. The last line has their number and a SHA-256 of all bytes before. The element lines are
// rows of a bulk load. The dump is streamed, with a few hundred elements in memory at a time.
// Invariant: dump, load, dump gives the same bytes.
import { createHash } from 'node:crypto';
import { ByteWriter } from '../../base/bytes.js';
import { TrellisError } from '../../base/errors.js';
import { checkIntegrity } from '../../base/integrity.js';
import { writeUuid } from '../../exec/reply/element-template.js';
import type { PropertyType } from '../../base/schema.js';
import { type FullCatalog, catalogOf } from '../../storage/catalog/catalog.js';
import { type StoredCatalog, readCatalog, unhidden } from '../../storage/catalog/catalog-record.js';
import { isFloat, readFragment } from '../../storage/record/fragment.js';
import type { Storage } from '../../storage/open-storage.js';
import { readTotal } from '../../storage/table/meta.js';
import { fragmentOf, labelOf, uuidAt } from '../../storage/record/record.js';
import { checkFloats } from '../../storage/record/stored-float.js';
import type { Label, StoredProperty } from '../../storage/table/view-types.js';
import { readVector } from '../../storage/record/vector-record.js';
import type { Env, Table } from '../../storage/table/env.js';
import { base64OfVector } from '../load/row/base64.js';

export const dumpVersion = 1;

const blockBytes = 256 * 1024;
const idsPerRead = 512;
const quotedTypes: ReadonlySet<string> = new Set(['I64', 'U64', 'U128']);

export interface DumpOptions {
  /**
   * Called for an element that cannot be read and is left out. Without it, such an element fails the dump.
   */
  onDamage?: (id: number, error: TrellisError) => void;
}

/** Source of the rows of a dump. */
export interface RowSource {
  stored: StoredCatalog;
  /** Ascending. */
  ids: Iterable<number>;
  records: Pick<Table<number>, 'peek'>;
  vectors: Pick<Table<number>, 'peek'>;
  /** Expected number of elements, where it is known. */
  total?: number;
}

/** Yields the dump of a store in blocks of whole lines. */
export function dump(storage: Storage, options: DumpOptions = {}): Generator<Uint8Array> {
  const { env } = storage;
  env.refresh();
  const stored = readCatalog(env.meta);
  let total = 0;
  for (const { id } of stored.labels) total += readTotal(env.meta, id).count;
  const { records, vectors } = env;
  return dumpRows({ stored, ids: idsOf(env), records, vectors, total }, options);
}

/** Yields the dump of rows in blocks of whole lines. */
export function* dumpRows(source: RowSource, options: DumpOptions = {}): Generator<Uint8Array> {
  const { stored, ids, total } = source;
  const forms = new Forms(catalogOf(unhidden(stored)));
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
      writeElement(writer, source, forms, id);
      count++;
    } catch (error) {
      if (!(error instanceof TrellisError) || options.onDamage === undefined) throw error;
      writer.length = before;
      options.onDamage(id, error);
    }
    if (writer.length >= blockBytes) yield flush();
  }
  // A page that lost elements is detected by their number.
  const isComplete = options.onDamage !== undefined || total === undefined || count === total;
  checkIntegrity(isComplete, `${count} elements can be read of ${total}`);
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

/** The parts that all rows of a label have in common, ready to be copied. */
interface Form {
  kind: Label['kind'];
  /** The bytes before the uuid. */
  head: Uint8Array;
  properties: { slot: number; type: PropertyType; name: Uint8Array }[];
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));

const fromText = bytesOf(',"from":');
const toText = bytesOf(',"to":');
const propertiesText = bytesOf(',"properties":{');
const endText = bytesOf('}}\n');

class Forms {
  readonly #forms = new Map<number, Form>();

  constructor(private readonly catalog: FullCatalog) {}

  of(id: number): Form {
    let form = this.#forms.get(id);
    if (form === undefined) this.#forms.set(id, (form = formOf(this.catalog.label(id))));
    return form;
  }
}

function formOf({ kind, name, properties }: Label): Form {
  const form = ({ name, slot, type }: StoredProperty) => {
    return { slot, type, name: bytesOf(`${JSON.stringify(name)}:`) };
  };
  const head = bytesOf(`{"${kind}":${JSON.stringify(name)},"id":`);
  return { kind, head, properties: properties.map(form) };
}

/** Bytes for three uuids and the text between them. */
const idsRoom = 160;

function writeElement(writer: ByteWriter, source: RowSource, forms: Forms, id: number): void {
  let record = source.records.peek(id);
  checkIntegrity(record, `element ${id} cannot be found again`);
  const { kind, head, properties } = forms.of(labelOf(record));
  // The vector is read from another table, which invalidates the peeked record.
  if (kind === 'vector') record = record.slice();
  writer.append(head);
  writer.reserve(idsRoom);
  writer.length = writeUuid(record, uuidAt.own, writer.bytes, writer.length);
  if (kind === 'edge') {
    writer.append(fromText);
    writer.length = writeUuid(record, uuidAt.from, writer.bytes, writer.length);
    writer.append(toText);
    writer.length = writeUuid(record, uuidAt.to, writer.bytes, writer.length);
  } else if (kind === 'vector') writeVector(writer, source, id);
  writer.append(propertiesText);
  writeProperties(writer, properties, record);
  writer.append(endText);
}

function writeVector(writer: ByteWriter, { vectors }: RowSource, id: number): void {
  const value = vectors.peek(id);
  const width = value?.[value.length - 1] === 4 ? 'f32' : 'f64';
  const vector = readVector(vectors, id);
  checkIntegrity(vector, `the embedding of element ${id} is missing`);
  writer.ascii(`,"${width}":"${base64OfVector(vector, width)}"`);
}

function writeProperties(
  writer: ByteWriter,
  properties: Form['properties'],
  record: Uint8Array,
): void {
  let isFirst = true;
  for (const { name, slot, type } of properties) {
    const { start, end } = fragmentOf(record, slot);
    if (start === end) continue;
    if (!isFirst) writer.byte(44);
    isFirst = false;
    writer.append(name);
    if (isFloat(type)) checkFloats(record, start, end);
    const isQuoted = isWide(type);
    if (isQuoted && type.kind === 'list')
      writer.utf8(JSON.stringify(texts(readFragment(record, start, end, type))));
    else {
      if (isQuoted) writer.byte(34);
      writer.append(record, start, end);
      if (isQuoted) writer.byte(34);
    }
  }
}

/** Returns true for integers that many JSON readers would round. They are written as strings. */
const isWide = (type: PropertyType): boolean =>
  type.kind === 'list' ? isWide(type.of) : quotedTypes.has(type.name);

const texts = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(texts) : value === null ? null : String(value);
