// Replaces the part of Node's `events` that the graph libraries use. The bundler inserts this file, which is
// much smaller. Invariant: the listeners of an event are fixed when the event starts.
type Listener = (...args: unknown[]) => void;

export class EventEmitter {
  #listeners = new Map<string, Listener[]>();

  on(type: string, listener: Listener): this {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
    return this;
  }

  /** Removes one listener, the last of equal ones. */
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
