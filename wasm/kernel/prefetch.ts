// Fetches memory before it is needed. WebAssembly has no prefetch instruction, but loads that do not depend
// on each other overlap their cache misses. So a search reads one word of every line that it will need.

/** Bytes of a cache line. */
const LINE: usize = 64;

/**
 * Reads one word of every cache line of the `bytes` bytes at `at`. Returns them combined: the caller stores
 * the value somewhere, because the compiler removes loads that nothing uses.
 */
// @ts-ignore: decorator
@inline
export function touchLines(at: usize, bytes: usize): v128 {
  const end = at + bytes;
  let touched = v128.load(at);
  for (at += LINE; at < end; at += LINE) touched = v128.or(touched, v128.load(at));
  return touched;
}
