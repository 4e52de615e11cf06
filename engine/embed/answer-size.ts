// Computes the maximum size of a provider's response: the number of texts times the size of a vector, plus
// overhead. Earlier responses of the model give the number of dimensions.

/** Maximum bytes of any response. */
const bytesMax = 64 * 1024 * 1024;
/** Maximum number of dimensions of an unknown model. */
const dimensionsMax = 65_535;
/** Bytes of a number with all its digits on a separate line. */
const numberBytes = 40;
/** Bytes of the JSON around one vector, and around all of them. */
const vectorBytes = 4 * 1024;
const frameBytes = 64 * 1024;
/** A model may be replaced by another one of the same name: allow twice the known size. */
const growth = 2;
const dimensionsMin = 2_048;

export class AnswerSize {
  readonly #dimensions = new Map<string, number>();

  /** Returns the maximum bytes of a response to `texts` texts. */
  bound(model: string, texts: number): number {
    const known = this.#dimensions.get(model);
    const maxDimensions =
      known === undefined ? dimensionsMax : Math.max(dimensionsMin, known * growth);
    return Math.min(bytesMax, frameBytes + texts * (vectorBytes + maxDimensions * numberBytes));
  }

  learn(model: string, dimensions: number): void {
    this.#dimensions.set(model, dimensions);
  }

  /** Called after a response was too long: the next one is bounded as for an unknown model. */
  forget(model: string): void {
    this.#dimensions.delete(model);
  }
}
