// Finds the values in JSON text that the executor has printed. The text is trusted to be well formed, so that
// parts of it can be copied without parsing. Numbers keep all their digits.

/** From its first byte to the byte after its last. */
export type Span = readonly [start: number, end: number];

const [quote, backslash, comma] = [34, 92, 44];

/** Returns the end of the value that begins at `at`. */
function endOf(text: Buffer, at: number): number {
  if (text[at] === quote) return endOfText(text, at);
  const opens = text[at];
  if (opens !== 123 && opens !== 91) {
    let end = at;
    while (end < text.length && text[end] !== comma && text[end] !== 93 && text[end] !== 125) end++;
    return end;
  }
  let depth = 0;
  for (let i = at; ; ) {
    const byte = text[i]!;
    if (byte === quote) {
      i = endOfText(text, i);
      continue;
    }
    if (byte === 123 || byte === 91) depth++;
    else if ((byte === 125 || byte === 93) && --depth === 0) return i + 1;
    i++;
  }
}

function endOfText(text: Buffer, at: number): number {
  let i = at + 1;
  while (text[i] !== quote) i += text[i] === backslash ? 2 : 1;
  return i + 1;
}

/** Returns the values of an array. */
export function itemsOf(text: Buffer, [start]: Span): Span[] {
  const items: Span[] = [];
  let at = start + 1;
  while (text[at] !== 93) {
    if (text[at] === comma) at++;
    const end = endOf(text, at);
    items.push([at, end]);
    at = end;
  }
  return items;
}

/** Returns the members of an object. The names come from the engine and have no escapes. */
export function membersOf(text: Buffer, [start]: Span): Map<string, Span> {
  const members = new Map<string, Span>();
  let at = start + 1;
  while (text[at] !== 125) {
    if (text[at] === comma) at++;
    const nameEnd = endOfText(text, at);
    const name = text.toString('latin1', at + 1, nameEnd - 1);
    const end = endOf(text, nameEnd + 1);
    members.set(name, [nameEnd + 1, end]);
    at = end;
  }
  return members;
}
