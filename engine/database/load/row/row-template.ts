// Parses rows that look like an earlier one. Generated files repeat the same members in the same order, so
// that a line differs from an earlier one in a few strings and numbers only. A template is learned from a row
// that was parsed in full and accepted. A line that fits the template needs no scan, no tape and no search
// for members.
//
//   {"edge":"Knows","from":"p17","to":"p4","properties":{"since":2019}}
//    fixed ---------------- text - fixed -- text - fixed ------ number -- fixed
//
// Invariant: for a line that fits, the scanner would find the same members. A line with non-ASCII characters,
// or anything else unusual, does not fit and is parsed in full.
import type { JsonKind, JsonView } from '../../../json/view.js';
import { scanNumber, scanned } from '../../../json/number.js';
import { slice } from '../../../base/byte-slice.js';
import type { TypeForm } from './row-schema.js';

const QUOTE = 0x22;
const NEWLINE = 10;
const yes = new TextEncoder().encode('true');
const no = new TextEncoder().encode('false');

/** 1 for bytes of a string that need no unescaping. */
const ordinary = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x80 && byte !== QUOTE && byte !== 0x5c ? 1 : 0,
);

/** The values of a row, as far as it has them. */
export interface RowParts {
  form: TypeForm;
  name: JsonView | undefined;
  from: JsonView | undefined;
  to: JsonView | undefined;
  /** Values by slot of the record. */
  fields: (JsonView | undefined)[];
}

/** A scalar of a line that fits. It is reused for the next line. */
class SpanView implements JsonView {
  bytes = new Uint8Array(0);
  start = 0;
  end = 0;
  integral = false;
  value = 0;
  readonly length = 0;

  constructor(
    readonly kind: JsonKind,
    readonly path: string,
  ) {}

  get size(): number {
    return this.end - this.start;
  }

  get verbatim(): boolean {
    return this.kind === 'string';
  }

  boolean(): boolean {
    return this.bytes[this.start] === 0x74;
  }

  token(): string {
    return slice(this.bytes, this.start, this.end);
  }

  source(): string {
    const around = Number(this.kind === 'string');
    return slice(this.bytes, this.start - around, this.end + around);
  }

  float(): number {
    return this.value;
  }

  text(): string {
    return slice(this.bytes, this.start, this.end);
  }

  is(text: string): boolean {
    return this.kind === 'string' && this.text() === text;
  }

  floats(): number {
    return 0;
  }

  at(): JsonView {
    return this;
  }

  member(): undefined {
    return undefined;
  }

  names(): string[] {
    return [];
  }
}

export class RowTemplate {
  readonly parts: RowParts;
  /** Offset after the line that fitted. */
  end = 0;
  /** The bytes before each span, and after the last. */
  readonly #fixed: Uint8Array[] = [];
  readonly #spans: SpanView[] = [];

  private constructor(bytes: Uint8Array, parts: RowParts) {
    const spans = new Map<JsonView, SpanView>();
    const views = [parts.name, parts.from, parts.to, ...parts.fields].filter((view) => !!view);
    let at = 0;
    for (const view of views.sort((a, b) => a.start - b.start)) {
      const { start, size } = view;
      const span = new SpanView(view.kind, view.path);
      spans.set(view, span);
      if (view.kind === 'null') continue;
      this.#fixed.push(bytes.slice(at, start));
      this.#spans.push(span);
      at = start + size;
    }
    this.#fixed.push(bytes.slice(at));
    const spanOf = (view: JsonView | undefined): SpanView | undefined => view && spans.get(view);
    this.parts = {
      form: parts.form,
      name: spanOf(parts.name),
      from: spanOf(parts.from),
      to: spanOf(parts.to),
      fields: parts.fields.map(spanOf),
    };
  }

  /**
   * Returns the template of a line, or undefined when the line contains something that templates do not
   * support.
   */
  static of(bytes: Uint8Array, parts: RowParts): RowTemplate | undefined {
    const fits = [parts.name, parts.from, parts.to, ...parts.fields].every(
      (view) => view === undefined || isPlain(bytes, view),
    );
    return fits ? new RowTemplate(bytes, parts) : undefined;
  }

  /** Returns true if a line that fits starts here. Then `parts` are its values and `end` its end. */
  fits(bytes: Uint8Array, start: number): boolean {
    const spans = this.#spans;
    let at = start;
    for (let i = 0; i < spans.length; i++) {
      at = passFixed(bytes, at, this.#fixed[i]!);
      if (at < 0) return false;
      const span = spans[i]!;
      span.bytes = bytes as Uint8Array<ArrayBuffer>;
      span.start = at;
      if (span.kind === 'string') {
        while (ordinary[bytes[at]!] === 1) at++;
        if (bytes[at] !== QUOTE) return false;
      } else if (span.kind === 'boolean') {
        const after = passFixed(bytes, at, yes);
        at = after < 0 ? passFixed(bytes, at, no) : after;
        if (at < 0) return false;
      } else {
        at = scanNumber(bytes, at);
        if (at < 0) return false;
        span.integral = !scanned.isFraction;
        span.value = scanned.value;
      }
      span.end = at;
    }
    at = passFixed(bytes, at, this.#fixed[spans.length]!);
    if (at < 0 || (at < bytes.length && bytes[at] !== NEWLINE)) return false;
    this.end = at;
    return true;
  }
}

function passFixed(bytes: Uint8Array, at: number, fixed: Uint8Array): number {
  const { length } = fixed;
  if (at + length > bytes.length) return -1;
  for (let i = 0; i < length; i++) if (bytes[at + i] !== fixed[i]) return -1;
  return at + length;
}

function isPlain(bytes: Uint8Array, view: JsonView): boolean {
  if (view.kind === 'array' || view.kind === 'object') return false;
  if (view.kind !== 'string') return true;
  for (let i = view.start; i < view.start + view.size; i++) {
    if (ordinary[bytes[i]!] !== 1) return false;
  }
  return true;
}
