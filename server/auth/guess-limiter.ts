// How many credentials that nobody knows yet are looked at in a second, by source and over all. A look is counted
// before it is made, and taken back when the credential was right: so guesses that come at once are not looked at
// at once. Of one thread: all such looks are made on one.

/** Over all, as many are looked at as so many sources have. */
const sources = 10;

export class Guesses {
  readonly #counts = new Map<string, number>();
  #total = 0;
  #second = 0;

  /** At most so many of one source in a second. */
  constructor(private readonly perSource: number) {}

  /** Whether one more may be looked at; counts it. `now`: performance.now(). */
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

  /** It was no guess. */
  takeBack(source: string): void {
    const count = this.#counts.get(source);
    if (count === undefined) return;
    this.#counts.set(source, count - 1);
    this.#total--;
  }
}
