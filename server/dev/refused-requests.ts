// A line for each request that was refused, for whoever develops against the server: some twenty a
// second, then how many more.
const perSecond = 20;

export class RefusedRequests {
  #shown = 0;
  #more = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly tell: (line: string) => void) {}

  add(method: string, path: string, status: string, code: string, ms: number): void {
    this.#timer ??= setTimeout(() => this.#endSecond(), 1_000).unref();
    if (this.#shown === perSecond) {
      this.#more++;
      return;
    }
    this.#shown++;
    this.tell(`${method} ${path} ${status} ${code} ${ms.toFixed(1)} ms`);
  }

  #endSecond(): void {
    this.#timer = undefined;
    if (this.#more > 0) this.tell(`${this.#more} more requests were refused in that second`);
    this.#shown = 0;
    this.#more = 0;
  }
}
