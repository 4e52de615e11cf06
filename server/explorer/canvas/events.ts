// What the graph libraries take of Node's `events`: the bundler gives them this in its place, which is a fraction
// of the size on the first page. Invariant: who is called is settled when an event begins.
type Listener = (...args: unknown[]) => void;

export class EventEmitter {
  #listeners = new Map<string, Listener[]>();

  on(type: string, listener: Listener): this {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
    return this;
  }

  /** Takes one of them off, the last of equal ones. */
  removeListener(type: string, listener: Listener): this {
    const list = this.#listeners.get(type) ?? [];
    const at = list.lastIndexOf(listener);
    if (at >= 0) this.#listeners.set(type, list.toSpliced(at, 1));
    return this;
  }

  removeAllListeners(): this {
    this.#listeners.clear();
    return this;
  }

  emit(type: string, ...args: unknown[]): boolean {
    const list = this.#listeners.get(type) ?? [];
    for (const listener of list) listener.apply(this, args);
    return list.length > 0;
  }
}
