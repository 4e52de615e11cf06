// Converts byte ranges to strings. The methods of Buffer work on any Uint8Array, so no wrapper
// object is allocated.

interface Slicer {
  latin1Slice(start: number, end: number): string;
  utf8Slice(start: number, end: number): string;
}

const { latin1Slice, utf8Slice }: Slicer = Buffer.prototype;

/** Returns the text of bytes that are known to be ASCII. */
export function slice(bytes: Uint8Array, start: number, end: number): string {
  return latin1Slice.call(bytes, start, end);
}

/** Returns the text of bytes that are known to be well-formed UTF-8. */
export function sliceUtf8(bytes: Uint8Array, start: number, end: number): string {
  return utf8Slice.call(bytes, start, end);
}
