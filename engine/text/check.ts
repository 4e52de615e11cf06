// Recounts the keyword index of one label from its documents (invariant I7 of operations.md):
// postings, document lengths, document frequencies, totals, and the bounds of the directory.
import type { Limits } from '../base/limits.js';
import type { ReadView } from '../storage/table/view-types.js';
import { encodeEntry, findEntry } from './impacts.js';
import { type Block, decodeBlock, newBlock } from './posting.js';
import { decodeRecord, newRecord } from './term-record.js';
import { countTerms, readTotals } from './text-index.js';
import {
  blockKey,
  directoryKey,
  placeOfKey,
  termBytes,
  termKey,
  termRange,
  textRange,
} from './text-key.js';

export interface TextDocument {
  id: number;
  texts: readonly string[];
}

/** A posting list reduced to what tells two apart: its length and a sum over its postings. */
interface Digest {
  df: number;
  sum: number;
}

/** One line per fault; none when the index is as a rebuild would make it. */
export function checkTextIndex(
  view: ReadView,
  label: number,
  documents: Iterable<TextDocument>,
  limits: Pick<Limits, 'document_terms'>,
): string[] {
  const faults: string[] = [];
  const expected = new Map<string, Digest>();
  const totals = { documents: 0, length: 0 };
  for (const { id, texts } of documents) {
    const document = countTerms(texts, limits.document_terms);
    if (document.length > 0) totals.documents++;
    totals.length += document.length;
    for (const [term, frequency] of document.frequencies)
      count(expected, textOf(termBytes(term)), id, frequency, document.length);
  }
  const stored = readTotals(view, label);
  if (stored.documents !== totals.documents || stored.length !== totals.length)
    faults.push(`totals of label ${label}`);
  for (const { key, value } of view.scanDerived(...termRange(label))) {
    const place = placeOfKey(key);
    if (place.kind !== 'term') continue;
    const { term } = place;
    const name = textOf(term);
    const digest = soundList(view, label, term, value);
    const recount = expected.get(name);
    expected.delete(name);
    if (digest === undefined || digest.df !== recount?.df || digest.sum !== recount.sum)
      faults.push(`postings of term ${name} of label ${label}`);
  }
  for (const name of expected.keys()) faults.push(`no postings of term ${name} of label ${label}`);
  return faults;
}

/** What of the keyword index belongs to no label, no term, or no directory. */
export function checkTextKeys(view: ReadView, labels: ReadonlySet<number>): string[] {
  const faults: string[] = [];
  for (const { key } of view.scanDerived(...textRange())) {
    const place = placeOfKey(key);
    if (place.kind === 'kept') continue;
    const { label } = place;
    if (place.kind === 'other' || !labels.has(label)) {
      faults.push(`keyword entry ${Buffer.from(key).toString('hex').slice(0, 32)} is of nobody`);
    } else if (place.kind === 'directory' || place.kind === 'block') {
      const { term, upper } = place;
      const directory = view.getDerived(directoryKey(label, term));
      const isListed =
        view.getDerived(termKey(label, term)) !== undefined &&
        directory !== undefined &&
        (upper === undefined || findEntry(directory, upper)?.upper === upper);
      if (!isListed) faults.push(`a ${place.kind} of term ${textOf(term)} of label ${label}`);
    }
  }
  return faults;
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

function count(
  digests: Map<string, Digest>,
  name: string,
  id: number,
  frequency: number,
  length: number,
): void {
  const digest = digests.get(name) ?? { df: 0, sum: 0 };
  digests.set(name, digest);
  digest.df++;
  digest.sum = (digest.sum + mix(mix(mix(id) ^ frequency) ^ length)) >>> 0;
}

/** Spreads the bits of a number (the finaliser of MurmurHash3). */
function mix(value: number): number {
  const a = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const b = Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b ^ (b >>> 16)) >>> 0;
}

/** As `readList`; bytes that are no list are one that is not in order. */
function soundList(
  view: ReadView,
  label: number,
  term: Uint8Array,
  value: Uint8Array,
): Digest | undefined {
  try {
    return readList(view, label, term, value);
  } catch {
    return undefined;
  }
}

/** The digest of a stored list; undefined when the list is not in order. */
function readList(
  view: ReadView,
  label: number,
  term: Uint8Array,
  value: Uint8Array,
): Digest | undefined {
  const digests = new Map<string, Digest>();
  const record = newRecord();
  decodeRecord(value, record);
  let previous = 0;
  const take = (block: Block): boolean => {
    for (let i = 0; i < block.count; i++) {
      const id = block.ids[i]!;
      if (id <= previous) return false;
      previous = id;
      count(digests, '', id, block.frequencies[i]!, block.lengths[i]!);
    }
    return true;
  };
  const directory = view.getDerived(directoryKey(label, term)) ?? new Uint8Array(0);
  const older = newBlock();
  for (let at = 0; at < directory.length; ) {
    const place = findEntry(directory, previous + 1);
    const bytes = place && view.getDerived(blockKey(label, term, place.upper));
    if (bytes === undefined || place === undefined || place.start !== at) return undefined;
    decodeBlock(bytes, older);
    const entry = encodeEntry(place.upper, older, 0, older.count);
    const isSame = Buffer.compare(directory.subarray(at, place.end), entry) === 0;
    if (!isSame || !take(older) || previous > place.upper) return undefined;
    previous = place.upper;
    at = place.end;
  }
  if (!take(record.tail)) return undefined;
  const digest = digests.get('') ?? { df: 0, sum: 0 };
  return digest.df === record.df ? digest : undefined;
}
