// Limits the look-ups of unknown credentials per second, by source and in total. A look-up is counted before
// it runs, and the count is taken back if the credential was valid. So simultaneous guesses cannot exceed the
// limit. Runs on one thread, which makes all such look-ups.

/** The total limit is this many times the limit of one source. */
const sources = 10;

export class Guesses {
  readonly #counts = new Map<string, number>();
  #total = 0;
  #second = 0;

  /** `perSource`: guesses of one source per second. */
  constructor(private readonly perSource: number) {}

  /** Counts a guess. Returns false if it exceeds a limit. `now`: performance.now(). */
  begin(source: string, now: number): boolean {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#total = 0;
      this.#counts.clear();
    }
    const count = this.#counts.get(source) ?? 0;
    if (count >= this.perSource || this.#total >= this.perSource * sources) return false;
    this.#counts.set(source, count + 1);
    this.#total++;
    return true;
  }

  /** Takes a count back, because the credential was valid. */
  takeBack(source: string): void {
    const count = this.#counts.get(source);
    if (count === undefined) return;
    this.#counts.set(source, count - 1);
    this.#total--;
  }
}
