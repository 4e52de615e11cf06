// How long an answer may be: as many texts as were sent, times the numbers of a vector, and some. What a model has
// answered before tells how many these are.

/** The longest that any answer may be. */
const bytesMax = 64 * 1024 * 1024;
/** The most numbers of a vector, where nothing is known of its model. */
const dimensionsMax = 65_535;
/** A number with all of its digits, on a line of its own. */
const numberBytes = 40;
/** What stands around one vector, and around all of them. */
const vectorBytes = 4 * 1024;
const frameBytes = 64 * 1024;
/** A model may be replaced by one of the same name: that answers more, but not everything. */
const growth = 2;
const dimensionsMin = 2_048;

export class AnswerSize {
  readonly #dimensions = new Map<string, number>();

  /** Bytes that an answer to so many texts may have. */
  bound(model: string, texts: number): number {
    const known = this.#dimensions.get(model);
    const most = known === undefined ? dimensionsMax : Math.max(dimensionsMin, known * growth);
    return Math.min(bytesMax, frameBytes + texts * (vectorBytes + most * numberBytes));
  }

  learn(model: string, dimensions: number): void {
    this.#dimensions.set(model, dimensions);
  }

  /** An answer was too long: the next one is bounded as if nothing were known. */
  forget(model: string): void {
    this.#dimensions.delete(model);
  }
}
