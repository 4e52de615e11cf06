// JSON Pointers (RFC 6901), which locate errors in a body.

const pointerPart = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns the JSON Pointer to the member or element `name` of the value at `path`. */
export function pointerTo(path: string, name: string | number): string {
  return `${path}/${typeof name === 'number' ? name : pointerPart(name)}`;
}
