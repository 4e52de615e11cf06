// Delays an answer that ends its connection until the body of the request has arrived. Most clients send the
// whole request before they read. If the server closes with unread bytes, such a client loses the answer (RFC
// 9112, 9.6). The body is discarded. Invariant: the answer is sent once: at the end of the body, after
// `quietMs` without a piece, or after `longestMs`. It is never sent after `stop`.

const silenceMaxMs = 150;
const longestMs = 5_000;

export class LingeringClose {
  readonly #until = performance.now() + longestMs;
  readonly #timer: NodeJS.Timeout;
  #chunks = 0;
  #isOver = false;

  constructor(private readonly answer: () => void) {
    this.#timer = setTimeout(() => this.#onSilence(), silenceMaxMs).unref();
  }

  /**
   * Waits one more turn of the event loop: if this thread was busy, pieces that arrived meanwhile are read
   * after its timers.
   */
  #onSilence(): void {
    const chunks = this.#chunks;
    setImmediate(() => {
      if (chunks === this.#chunks) this.#end();
    });
  }

  #end(): void {
    if (this.#isOver) return;
    this.stop();
    this.answer();
  }

  /** Called for each piece of the body. `isEnd`: the piece is the last one. */
  received(isEnd: boolean): void {
    if (this.#isOver) return;
    this.#chunks++;
    if (isEnd || performance.now() > this.#until) this.#end();
    else this.#timer.refresh();
  }

  /** Called when the client has disconnected. */
  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
