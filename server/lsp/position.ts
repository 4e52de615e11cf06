// Converts positions to the form of the protocol: lines and UTF-16 units, both from 0.

export interface Position {
  line: number;
  character: number;
}
export interface Range {
  start: Position;
  end: Position;
}

const lineBreak = /\r\n?|\n/g;

/** A text that converts between offsets and positions. */
export class TextPositions {
  readonly #starts: number[];

  constructor(readonly text: string) {
    const ends = Array.from(text.matchAll(lineBreak), (match) => match.index + match[0].length);
    this.#starts = [0, ...ends];
  }

  positionAt(offset: number): Position {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low, character: offset - this.#starts[low]! };
  }

  /** Returns the offset of a position. Positions after the end are the end. */
  offsetAt({ line, character }: Position): number {
    const start = this.#starts[line];
    if (start === undefined) return this.text.length;
    return Math.min(start + character, this.#starts[line + 1] ?? this.text.length);
  }

  range({ start, end }: { start: number; end: number }): Range {
    return { start: this.positionAt(start), end: this.positionAt(end) };
  }

  get whole(): Range {
    return this.range({ start: 0, end: this.text.length });
  }
}
