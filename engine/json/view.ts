// What readers of a scanned JSON body see. The scanner (scan.ts) checks structure and limits before
// any value is built and leaves a tape of positions; a view is one place on the tape. Numbers keep
// their exact digits.

export type JsonKind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** A JSON value inside a scanned body. Cheap to make; valid as long as the body's bytes are. */
export interface JsonView {
  readonly kind: JsonKind;
  /** JSON Pointer of this value. */
  readonly path: string;
  /** Number of elements or members; 0 for scalars. */
  readonly length: number;
  boolean(): boolean;
  /** The number token as written, e.g. `-0.50e3`. */
  token(): string;
  /** Whether this is a number written without fraction and exponent. */
  readonly integral: boolean;
  /**
   * Bytes of the token as written, quotes not counted; of a string never less than its UTF-8 bytes.
   */
  readonly size: number;
  /** First byte of a number, of a string the one after its quote. */
  readonly start: number;
  /** Whether this is a string that stands for itself: no escapes in it. */
  readonly verbatim: boolean;
  /** The 64-bit float nearest to the number; infinite when there is none. */
  float(): number;
  /**
   * Reads an array of numbers into `into`, whose length is that of the array. Answers the index of
   * the first element that is no number, or -1.
   */
  floats(into: Float64Array): number;
  /** The decoded string. */
  text(): string;
  /** Whether this is the string `text`; makes none where it can. */
  is(text: string): boolean;
  /** Element `index` of an array. */
  at(index: number): JsonView;
  /** Own member of an object; undefined when absent. */
  member(name: string): JsonView | undefined;
  /** Member names of an object in source order, the first `most` of them. */
  names(most?: number): string[];
}
