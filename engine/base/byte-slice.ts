// Strings out of bytes. The methods of Buffer work on any Uint8Array and cost no wrapper object.

interface Slicer {
  latin1Slice(start: number, end: number): string;
  utf8Slice(start: number, end: number): string;
}

const { latin1Slice, utf8Slice }: Slicer = Buffer.prototype;

/** Text of bytes that are known to be ASCII. */
export function slice(bytes: Uint8Array, start: number, end: number): string {
  return latin1Slice.call(bytes, start, end);
}

/** Text of bytes that are known to be well-formed UTF-8. */
export function sliceUtf8(bytes: Uint8Array, start: number, end: number): string {
  return utf8Slice.call(bytes, start, end);
}
