// How an answer that ends its connection waits for the end of the request's body: a close with bytes
// unread takes the answer from a client that says all before it listens, as most do (RFC 9112, 9.6).
// What comes meanwhile is forgotten. Invariant: the answer is sent once, when the end has come, when
// nothing has come for a while (then the client listens), or when it has taken too long; never after
// `stop`.

const quietMs = 150;
const longestMs = 5_000;

export class LingeringClose {
  readonly #until = performance.now() + longestMs;
  readonly #timer: NodeJS.Timeout;
  #pieces = 0;
  #isOver = false;

  constructor(private readonly answer: () => void) {
    this.#timer = setTimeout(() => this.#quiet(), quietMs).unref();
  }

  /** Where this thread was busy, what the client said meanwhile is heard after its timers. */
  #quiet(): void {
    const pieces = this.#pieces;
    setImmediate(() => {
      if (pieces === this.#pieces) this.#end();
    });
  }

  #end(): void {
    if (this.#isOver) return;
    this.stop();
    this.answer();
  }

  /** A piece of the body has come, maybe its end. */
  heard(isEnd: boolean): void {
    if (this.#isOver) return;
    this.#pieces++;
    if (isEnd || performance.now() > this.#until) this.#end();
    else this.#timer.refresh();
  }

  /** The client has gone. */
  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
