// Interface to a scanned JSON body. The scanner (scan.ts) checks structure and limits before any value is
// created, and writes a tape of positions. A view is one position on the tape. Numbers keep their exact
// digits.

export type JsonKind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** A JSON value inside a scanned body. Cheap to create; valid until the bytes of the body change. */
export interface JsonView {
  readonly kind: JsonKind;
  /** JSON Pointer of this value. */
  readonly path: string;
  /** Number of elements or members; 0 for scalars. */
  readonly length: number;
  boolean(): boolean;
  /** The number token as written, e.g. `-0.50e3`. */
  token(): string;
  /** True for a number without fraction and exponent. */
  readonly integral: boolean;
  /** Bytes of the token as written, without quotes; for a string at least its UTF-8 bytes. */
  readonly size: number;
  /** Position of the first byte; for a string, of the byte after its quote. */
  readonly start: number;
  /** True for a string without escapes. */
  readonly verbatim: boolean;
  /** Returns the 64-bit float nearest to the number; infinite on overflow. */
  float(): number;
  /**
   * Reads an array of numbers into `into`, which has the same length. Returns the index of the first element
   * that is not a number, or -1.
   */
  floats(into: Float64Array): number;
  /** Returns the value as written, a string with its quotes. */
  source(): string;
  /** Returns the decoded string. */
  text(): string;
  /** Returns true for the string `text`; avoids creating a string if possible. */
  is(text: string): boolean;
  /** Returns element `index` of an array. */
  at(index: number): JsonView;
  /** Returns an own member of an object; undefined if it is absent. */
  member(name: string): JsonView | undefined;
  /** Returns the first `max` member names of an object, in source order. */
  names(max?: number): string[];
}
