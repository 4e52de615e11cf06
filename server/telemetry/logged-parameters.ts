// What callers send, for the log where `log.parameters` asks for it: the beginning of a body as text. Owns
// what of it is printed. Invariant: no credential that this server knows, and nothing that has the
// form of one of its keys, is ever in that text, however it was written in the body.

/** Of a body so much is printed, in characters. */
const shownMax = 2_048;
/** Longer ones are no credentials. */
const secretMax = 1_024;
/** Bytes that are kept: enough for what is printed, and for a credential that begins in it. */
const keptMax = 4 * shownMax + secretMax;

const key = /tk_[0-9A-Za-z]{1,32}_[0-9A-Za-z]+/g;
/** Printable ASCII that JSON need not escape, but the quote and the backslash. */
const escaped = /\\u00([2-7][0-9a-f])|\\\//gi;

/** The part of a body that may be printed later; the body itself may be gone by then. */
export function keptOf(body: Uint8Array): Uint8Array {
  return body.slice(0, keptMax);
}

export class SentValues {
  readonly #secrets: readonly string[];

  /** Long ones first: one may hold another. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter((one) => one !== '').sort((a, b) => b.length - a.length);
  }

  /** `given`: the credentials of the request itself. */
  print(kept: Uint8Array, given: readonly string[]): string {
    const plain = new TextDecoder().decode(kept).replace(escaped, (whole, hex: string) => {
      const character = whole === '\\/' ? '/' : String.fromCharCode(Number.parseInt(hex, 16));
      return character === '"' || character === '\\' || character === '\x7f' ? whole : character;
    });
    let text = plain.replace(key, '***');
    for (const secret of [...this.#secrets, ...given]) {
      if (secret !== '') text = text.replaceAll(secret, '***');
    }
    // The end of what was kept may be the beginning of a credential.
    const sure = kept.length < keptMax ? text.length : text.length - secretMax;
    if (sure === text.length && sure <= shownMax) return text;
    return `${text.slice(0, Math.max(0, Math.min(sure, shownMax))).replace(/[\ud800-\udbff]$/, '')}…`;
  }
}
