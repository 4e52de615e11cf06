// Converts a reply to the result of a tool: large integers become strings, and the length is limited. A
// longer reply is shortened between two items of its largest list. Invariant: the shortened value has the
// same type, and the result says what was left out.
import {
  type DecodePath,
  findDecodePaths,
  type ReplyType,
  type Schema,
} from '../../../engine/internal.js';
import { type ListSpan, outlineOf, type WidePaths } from './json-outline.js';

export interface OutputOptions {
  /** Maximum number of characters of the reply. */
  limit: number;
  widePaths: WidePaths;
  /** How to request the rest, as the end of a sentence. */
  advice: string;
}

export interface Output {
  /** Members of the result, as JSON text. Absent if the reply is sent unchanged. */
  members: string;
  reply?: Uint8Array;
  /** Members of its `_meta`. */
  meta: string;
  isCut: boolean;
}

/**
 * Positions at which replies of a type can contain integers that a reader in JavaScript would round.
 */
export const widePathsOf = (schema: Schema, reply: ReplyType): DecodePath =>
  findDecodePaths(schema, reply, { int64: 'string', dates: false });

interface Cut {
  list: string;
  shown: number;
  total: number;
}

const cutsMax = 8;
const openBrace = 123;

/** The text is for models, the structured content for programs. */
const both = (text: string, structured: string): string =>
  `"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${structured}`;

export function outputOf(reply: string, { limit, widePaths, advice }: OutputOptions): Output {
  let structured = exact(reply, widePaths);
  const isWhole = structured.length <= limit && structured.charCodeAt(0) === openBrace;
  if (isWhole) return { members: both(structured, structured), meta: '', isCut: false };
  const cuts: Cut[] = [];
  while (structured.length > limit && cuts.length < cutsMax) {
    const next = cutOnce(structured, limit, cuts);
    if (next === undefined) break;
    structured = next;
  }
  const texts = [shortened(structured, limit)];
  if (cuts.length > 0) texts.push(`${cuts.map(truncationNote).join(' ')} ${advice}`);
  const content = texts.map((text) => `{"type":"text","text":${JSON.stringify(text)}}`).join(',');
  // The protocol requires an object here.
  const isObject = structured.startsWith('{');
  return {
    members: `"content":[${content}]${isObject ? `,"structuredContent":${structured}` : ''}`,
    meta: cuts.length === 0 ? '' : `"dev.trellisdb/cut":${JSON.stringify(cuts[0])}`,
    isCut: structured.length > limit || cuts.length > 0,
  };
}

/** Maximum length up to which a loop over bytes is faster than a regular expression on a string. */
const fewBytes = 2_048;

/** Like `outputOf`, for bytes. Most replies are short and without large integers: they are not decoded. */
export function outputOfBytes(reply: Uint8Array, options: OutputOptions): Output {
  const { limit, widePaths } = options;
  const isShort = reply.length <= Math.min(limit, fewBytes) && reply[0] === openBrace;
  if (isShort && (widePaths === 0 || !hasLongNumber(reply))) {
    return { members: '', reply, meta: '', isCut: false };
  }
  return outputOf(textOf(reply), options);
}

/** Minimum number of digits of an integer beyond 53 bits. */
const longDigits = 16;

function hasLongNumber(reply: Uint8Array): boolean {
  let digits = 0;
  for (let i = 0; i < reply.length; i++) {
    const byte = reply[i]!;
    if (byte < 0x30 || byte > 0x39) digits = 0;
    else if (++digits === longDigits) return true;
  }
  return false;
}

export const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();

/** Replaces integers that a reader in JavaScript would round by strings. */
function exact(reply: string, widePaths: WidePaths): string {
  if (widePaths === 0 || !/\d{16}/.test(reply)) return reply;
  const { wide } = outlineOf(reply, widePaths);
  let text = '';
  let done = 0;
  for (let i = 0; i < wide.length; i += 2) {
    const [start, end] = [wide[i]!, wide[i + 1]!];
    text += `${reply.slice(done, start)}"${reply.slice(start, end)}"`;
    done = end;
  }
  return text + reply.slice(done);
}

/**
 * Removes items from the end of the largest list. Returns undefined if there is nothing to remove.
 */
function cutOnce(text: string, limit: number, cuts: Cut[]): string | undefined {
  const done = new Set(cuts.map(({ list }) => list));
  const list = largest(outlineOf(text, 0).lists, done);
  if (list === undefined) return undefined;
  const { items, start, end, path } = list;
  const total = items.length / 2;
  const room = limit - (text.length - (end - start)) - 2;
  // Keeps at least one item as an example.
  let shown = 1;
  while (shown < total && items[shown * 2 + 1]! - items[0]! <= room) shown++;
  if (shown === total) return undefined;
  cuts.push({ list: path, shown, total });
  return `${text.slice(0, items[shown * 2 - 1])}]${text.slice(end)}`;
}

/**
 * Returns the list whose own items make up most of the text. If an inner list makes a few items large,
 * returns that inner list.
 */
function largest(lists: readonly ListSpan[], done: ReadonlySet<string>): ListSpan | undefined {
  let best: ListSpan | undefined;
  for (const list of lists) {
    const inside = largest(list.inner, done);
    const isMajority = inside !== undefined && sizeOf(inside) * 2 > sizeOf(list);
    const isOpen = list.items.length > 2 && !done.has(list.path) && !isMajority;
    const candidate = isOpen ? list : inside;
    if (candidate && (best === undefined || sizeOf(candidate) > sizeOf(best))) best = candidate;
  }
  return best;
}

const sizeOf = ({ start, end }: ListSpan): number => end - start;

/** A reply without a list is only shortened in its text. */
function shortened(text: string, limit: number): string {
  return text.length <= limit
    ? text
    : `${text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '')}… (cut)`;
}

function truncationNote({ list, shown, total }: Cut): string {
  const name = list.split('/').findLast((part) => !/^\d*$/.test(part)) ?? 'items';
  return `Shown ${shown.toLocaleString('en')} of ${total.toLocaleString('en')} ${name}.`;
}
