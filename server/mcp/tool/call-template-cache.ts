// Cache of message templates. Most calls of a client differ from an earlier call only in their id and
// arguments: these are matched by their bytes, and only the arguments are parsed.
//
// Invariant: a match equals the result of parsing the whole message, if the arguments are one well-formed
// object. The parser of the arguments checks this; if they are not, the whole message must be parsed.
import type { ErrorCode, JsonView, Limits } from '../../../engine/internal.js';
import type { Exchange } from '../../http/exchange.js';
import type { ProtocolStyle } from '../message/protocol-version.js';
import type { Asked } from '../message/method.js';
import { limitArgument } from './tool.js';

export interface TemplateMatch {
  /** Id as JSON text. */
  id: string;
  /** Name of the tool. */
  name: string;
  era: ProtocolStyle;
  /** The received bytes: not empty, and without reserved arguments. */
  args: Uint8Array;
}

/** Error codes of arguments that are not JSON. Then the whole message is not JSON either. */
export const malformed: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'BAD_UTF8',
  'BAD_JSON',
  'BAD_STRING',
  'JSON_TOO_DEEP',
  'JSON_TOO_MANY_MEMBERS',
  'DUPLICATE_MEMBER',
  'BODY_NOT_OBJECT',
]);

/** A message that was parsed completely, with the positions of its id and its arguments. */
export interface CallTemplate {
  bytes: Uint8Array;
  idAt: number;
  idEnd: number;
  argsAt: number;
  argsEnd: number;
  name: string;
  era: ProtocolStyle;
  /** Values of its HTTP headers. */
  version: string;
  method: string;
  named: string;
}

const patternsMax = 8;
/** Maximum length of a template. For longer messages, parsing is a small part of the cost. */
const bodyMax = 2_048;
const idMax = 64;
/** The parsed message and its `params`. */
const depthAround = 2;

export class CallTemplateCache {
  /** Templates, the most frequently matched first. */
  readonly #patterns: CallTemplate[] = [];
  readonly #bodyMax: number;
  readonly #depth: number;
  /** Called with each new template, to send it to the other threads. */
  onLearned: (pattern: CallTemplate) => void = () => undefined;

  constructor(limits: Limits, mostBytes: number) {
    // A message of this size cannot have more values than bytes.
    this.#bodyMax = Math.min(bodyMax, mostBytes, limits.json_values);
    this.#depth = limits.json_depth - depthAround;
  }

  find(body: Uint8Array, exchange: Exchange): TemplateMatch | undefined {
    if (body.length > this.#bodyMax) return undefined;
    const patterns = this.#patterns;
    for (let i = 0; i < patterns.length; i++) {
      const pattern = patterns[i]!;
      const found = this.#read(pattern, body, exchange);
      if (found === undefined) continue;
      if (i > 0) {
        patterns[i] = patterns[i - 1]!;
        patterns[i - 1] = pattern;
      }
      return found;
    }
    return undefined;
  }

  /** All templates, for a new thread. */
  get patterns(): readonly CallTemplate[] {
    return this.#patterns;
  }

  /** Adds a template from another thread. */
  add(pattern: CallTemplate): void {
    if (this.#patterns.length === patternsMax) this.#patterns.pop();
    this.#patterns.push(pattern);
  }

  /** Adds a template for a call that was parsed completely and whose tool is a query that reads. */
  learn({ frame, era, exchange }: Asked, name: string, args: JsonView): void {
    const { body, id, idAt, params } = frame;
    const meta = params!.member('_meta');
    // A part that differs in every call cannot be part of a template.
    const isOwn = (member: string): boolean => meta!.member(member) !== undefined;
    if (meta?.kind === 'object' && (isOwn('traceparent') || isOwn('progressToken'))) return;
    const { start: argsAt, size } = args;
    if (body.length > this.#bodyMax || args.length === 0) return;
    const pattern: CallTemplate = {
      bytes: Uint8Array.prototype.slice.call(body),
      idAt,
      idEnd: idAt + Buffer.byteLength(id!),
      argsAt,
      argsEnd: argsAt + size,
      name,
      era,
      version: exchange.mcpVersion,
      method: exchange.mcpMethod,
      named: exchange.mcpName,
    };
    this.add(pattern);
    this.onLearned(pattern);
  }

  #read(pattern: CallTemplate, body: Uint8Array, exchange: Exchange): TemplateMatch | undefined {
    const { name, era, idAt, argsAt } = pattern;
    const isSameHead =
      exchange.mcpName === pattern.named &&
      exchange.mcpVersion === pattern.version &&
      exchange.mcpMethod === pattern.method;
    if (!isSameHead) return undefined;
    const fits = idAt < argsAt ? idFirst(pattern, body) : idLast(pattern, body);
    if (!fits || !areCertain(body, found.argsAt, found.argsEnd, this.#depth)) return undefined;
    const id = asciiText(body, found.idAt, found.idEnd);
    return { id, name, era, args: body.subarray(found.argsAt, found.argsEnd) };
  }
}

/** Offsets in the current message. Reused by each match. */
const found = { idAt: 0, idEnd: 0, argsAt: 0, argsEnd: 0 };

/** Whether a message matches a template whose id comes before the arguments. */
function idFirst(pattern: CallTemplate, body: Uint8Array): boolean {
  const { bytes, idAt, idEnd, argsAt, argsEnd } = pattern;
  if (!isSame(bytes, 0, body, 0, idAt)) return false;
  const end = idFrom(body, idAt);
  if (end < 0 || !isSame(bytes, idEnd, body, end, argsAt - idEnd)) return false;
  found.idAt = idAt;
  found.idEnd = end;
  found.argsAt = end + argsAt - idEnd;
  found.argsEnd = body.length - (bytes.length - argsEnd);
  const isLong = found.argsEnd > found.argsAt;
  return isLong && isSame(bytes, argsEnd, body, found.argsEnd, bytes.length - argsEnd);
}

/** Whether a message matches a template whose id comes after the arguments. Compares from the end. */
function idLast(pattern: CallTemplate, body: Uint8Array): boolean {
  const { bytes, idAt, idEnd, argsAt, argsEnd } = pattern;
  if (!isSame(bytes, 0, body, 0, argsAt)) return false;
  const tail = bytes.length - idEnd;
  const end = body.length - tail;
  if (end <= argsAt || !isSame(bytes, idEnd, body, end, tail)) return false;
  const start = idUpTo(body, end);
  found.idAt = start;
  found.idEnd = end;
  found.argsAt = argsAt;
  found.argsEnd = start - (idAt - argsEnd);
  if (start < 0 || found.argsEnd <= argsAt) return false;
  return isSame(bytes, argsEnd, body, found.argsEnd, idAt - argsEnd);
}

function isSame(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number, count: number): boolean {
  if (bAt + count > b.length) return false;
  for (let i = 0; i < count; i++) if (a[aAt + i] !== b[bAt + i]) return false;
  return true;
}

const quote = 0x22;
const backslash = 0x5c;
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;
/** Whether a byte of a JSON string needs no escape. */
const isOrdinary = (byte: number): boolean => byte >= 0x20 && byte < 0x7f && byte !== backslash;

/** Returns the end of the id that starts at `at`, or -1 if it needs the full parser. */
function idFrom(body: Uint8Array, at: number): number {
  const last = Math.min(body.length, at + idMax);
  let end = at;
  if (body[at] === quote) {
    end++;
    while (end < last && body[end] !== quote && isOrdinary(body[end]!)) end++;
    return end < last && body[end] === quote ? end + 1 : -1;
  }
  while (end < last && isDigit(body[end]!)) end++;
  return isWhole(body, at, end) ? end : -1;
}

/** Returns the start of the id that ends before `end`. */
function idUpTo(body: Uint8Array, end: number): number {
  const first = Math.max(0, end - idMax);
  let at = end - 1;
  if (body[at] === quote) {
    at--;
    while (at > first && body[at] !== quote && isOrdinary(body[at]!)) at--;
    return at > first && body[at] === quote ? at : -1;
  }
  while (at >= first && isDigit(body[at]!)) at--;
  return isWhole(body, at + 1, end) ? at + 1 : -1;
}

/** Whether digits are a valid JSON integer. */
const isWhole = (body: Uint8Array, at: number, end: number): boolean =>
  end === at + 1 || (end > at && body[at] !== 0x30);

const underscore = 0x5f;
/** `_lim`: a longer prefix need not be compared. */
const reserved = Buffer.from(limitArgument.slice(0, 4));

/** Returns whether an object has no escaped or reserved names, and cannot be nested too deeply. */
function areCertain(body: Uint8Array, start: number, end: number, depth: number): boolean {
  if (body[start] !== 0x7b || body[end - 1] !== 0x7d) return false;
  let opened = 0;
  for (let at = start; at < end; at++) {
    const byte = body[at]!;
    if (byte === backslash) return false;
    if (byte === 0x7b || byte === 0x5b) opened++;
    else if (byte === underscore && isSame(reserved, 0, body, at, reserved.length)) return false;
  }
  return opened <= depth;
}

/** Returns ASCII text as bytes. */
function asciiText(body: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let i = start; i < end; i++) text += String.fromCharCode(body[i]!);
  return text;
}
