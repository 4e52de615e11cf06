// Splits a stream of bytes into lines.
//
// Invariant: at most one line up to the limit is buffered. The rest of a longer line is dropped and reported.

const newline = 10;

export class LineReader {
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(
    private readonly bytesMax: number,
    /** The line without the line feed; undefined if it was too long. */
    private readonly onLine: (line: Buffer | undefined) => void,
  ) {}

  take(bytes: Buffer): void {
    let from = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
      this.#keep(bytes.subarray(from, end));
      from = end + 1;
      this.end();
    }
    this.#keep(bytes.subarray(from));
  }

  /** The rest of the input counts as a line. */
  end(): void {
    const line = this.#size > this.bytesMax ? undefined : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#size = 0;
    if (line === undefined || line.some((byte) => byte > 32)) this.onLine(line);
  }

  #keep(bytes: Buffer): void {
    this.#size += bytes.length;
    if (this.#size > this.bytesMax) this.#chunks = [];
    else if (bytes.length > 0) this.#chunks.push(bytes);
  }
}
