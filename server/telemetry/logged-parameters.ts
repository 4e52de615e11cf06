// Prints the beginning of a request body for the log, if `log.parameters` is set. Invariant: the text never
// has a credential that this server holds, nor anything in the form of one of its keys, however it was
// written in the body.

/** Maximum characters of a body that are printed. */
const shownMax = 2_048;
/** Maximum length of a credential. */
const secretMax = 1_024;
/** Bytes that are kept: enough for the printed part, and for a credential that begins in it. */
const loggedMax = 4 * shownMax + secretMax;

const key = /tk_[0-9A-Za-z]{1,32}_[0-9A-Za-z]+/g;
/** Escapes of printable ASCII characters that JSON need not escape, and of the slash. */
const escaped = /\\u00([2-7][0-9a-f])|\\\//gi;

/** Returns the part of a body that may be printed later, as a copy. */
export function loggedPart(body: Uint8Array): Uint8Array {
  return body.slice(0, loggedMax);
}

export class SentValues {
  readonly #secrets: readonly string[];

  /** Sorts long secrets first, because one may contain another. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter((one) => one !== '').sort((a, b) => b.length - a.length);
  }

  /** `secrets` are the credentials of the request itself. */
  print(logged: Uint8Array, secrets: readonly string[]): string {
    const plain = new TextDecoder().decode(logged).replace(escaped, (match, hex: string) => {
      const character = match === '\\/' ? '/' : String.fromCharCode(Number.parseInt(hex, 16));
      return character === '"' || character === '\\' || character === '\x7f' ? match : character;
    });
    let text = plain.replace(key, '***');
    for (const secret of [...this.#secrets, ...secrets]) {
      if (secret !== '') text = text.replaceAll(secret, '***');
    }
    // The end of the kept part may be the beginning of a credential.
    const certain = logged.length < loggedMax ? text.length : text.length - secretMax;
    if (certain === text.length && certain <= shownMax) return text;
    return `${text.slice(0, Math.max(0, Math.min(certain, shownMax))).replace(/[\ud800-\udbff]$/, '')}…`;
  }
}
