// Recounts the keyword index of one label from its documents (invariant I7 of operations.md): postings,
// document lengths, document frequencies, totals, and the bounds in the directory.
import type { DocumentText } from '../base/text/document-text.js';
import type { ReadView } from '../storage/table/view-types.js';
import { encodeEntry, findEntry } from './impacts.js';
import { type Block, decodeBlock, newBlock } from './posting.js';
import { decodeRecord, newRecord } from './term-record.js';
import { type DocumentRules, countTerms } from './analysis/analyzer.js';
import { readTotals } from './text-index-writer.js';
import {
  blockKey,
  directoryKey,
  parseTextKey,
  termBytes,
  termKey,
  termRange,
  textRange,
} from './text-key.js';

export interface TextDocument {
  id: number;
  texts: readonly DocumentText[];
}

/** Digest of a posting list: its length and a checksum over its postings. */
interface Digest {
  df: number;
  sum: number;
}

/** Returns one line per violation; none when the index equals a rebuilt one. */
export function checkTextIndex(
  view: ReadView,
  label: number,
  documents: Iterable<TextDocument>,
  rules: DocumentRules,
): string[] {
  const violations: string[] = [];
  const expected = new Map<string, Digest>();
  const totals = { documents: 0, length: 0 };
  for (const { id, texts } of documents) {
    const document = countTerms(texts, rules);
    if (document.frequencies.size > 0) totals.documents++;
    totals.length += document.length;
    for (const [term, frequency] of document.frequencies)
      count(expected, textOf(termBytes(term)), id, frequency, document.length);
  }
  const stored = readTotals(view, label);
  if (stored.documents !== totals.documents || stored.length !== totals.length)
    violations.push(`totals of label ${label}`);
  for (const { key, value } of view.scanDerived(...termRange(label))) {
    const parsed = parseTextKey(key);
    if (parsed.kind !== 'term') continue;
    const { term } = parsed;
    const name = textOf(term);
    const digest = readListOrNothing(view, label, term, value);
    const recount = expected.get(name);
    expected.delete(name);
    if (digest === undefined || digest.df !== recount?.df || digest.sum !== recount.sum)
      violations.push(`postings of term ${name} of label ${label}`);
  }
  for (const name of expected.keys())
    violations.push(`no postings of term ${name} of label ${label}`);
  return violations;
}

/** Reports keyword entries that belong to no label, no term or no directory. */
export function checkTextKeys(view: ReadView, labels: ReadonlySet<number>): string[] {
  const violations: string[] = [];
  for (const { key } of view.scanDerived(...textRange())) {
    const parsed = parseTextKey(key);
    if (parsed.kind === 'complete') continue;
    const { label } = parsed;
    if (parsed.kind === 'other' || !labels.has(label)) {
      violations.push(
        `keyword entry ${Buffer.from(key).toString('hex').slice(0, 32)} is of nobody`,
      );
    } else if (parsed.kind === 'directory' || parsed.kind === 'block') {
      const { term, upper } = parsed;
      const directory = view.getDerived(directoryKey(label, term));
      const isListed =
        view.getDerived(termKey(label, term)) !== undefined &&
        directory !== undefined &&
        (upper === undefined || findEntry(directory, upper)?.upper === upper);
      if (!isListed) violations.push(`a ${parsed.kind} of term ${textOf(term)} of label ${label}`);
    }
  }
  return violations;
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

/** Mixes the bits of a number (the finalizer of MurmurHash3). */
function mix(value: number): number {
  const a = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const b = Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b ^ (b >>> 16)) >>> 0;
}

/** Like `readList`, and undefined for bytes that are no list. */
function readListOrNothing(
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

/** Returns the digest of a stored list, or undefined when the list is not in order. */
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
  const block = newBlock();
  for (let at = 0; at < directory.length; ) {
    const parsed = findEntry(directory, previous + 1);
    const bytes = parsed && view.getDerived(blockKey(label, term, parsed.upper));
    if (bytes === undefined || parsed === undefined || parsed.start !== at) return undefined;
    decodeBlock(bytes, block);
    const entry = encodeEntry(parsed.upper, block, 0, block.count);
    const isSame = Buffer.compare(directory.subarray(at, parsed.end), entry) === 0;
    if (!isSame || !take(block) || previous > parsed.upper) return undefined;
    previous = parsed.upper;
    at = parsed.end;
  }
  if (!take(record.tail)) return undefined;
  const digest = digests.get('') ?? { df: 0, sum: 0 };
  return digest.df === record.df ? digest : undefined;
}
