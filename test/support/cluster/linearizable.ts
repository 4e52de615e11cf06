// Checks whether a history of concurrent calls is linearizable. It is if one object could do the calls one at
// a time, each at an instant between its start and its reply. Uses Wing and Gong's search, with Lowe's cache
// of tried states. Invariant: it returns true only with such an order, and false only when no order is left.

/** What the object is: its states must be equal exactly when their keys are. */
export interface Model<S, O> {
  initial: S;
  /** The state behind the call; undefined where its answer could not be given in that state. */
  step(state: S, call: O): S | undefined;
  keyOf(state: S): string;
}

export interface Call<O> {
  call: O;
  begun: number;
  /** Infinity: no answer came. It may have been done at any time since, or never. */
  ended: number;
}

/** Calls in the order of their ends and beginnings, as a list that calls are taken out of and put back. */
interface Mark {
  /** Which call; its end when `isEnd`. */
  index: number;
  isEnd: boolean;
  before: Mark | undefined;
  after: Mark | undefined;
  /** For the start of a call: its end. */
  end: Mark | undefined;
}

function marksOf<O>(calls: readonly Call<O>[]): Mark {
  const events = calls.flatMap(({ begun, ended }, index) => [
    { time: begun, index, isEnd: false },
    { time: ended, index, isEnd: true },
  ]);
  // A call that ends when another one starts was concurrent with it, so starts come first.
  events.sort((a, b) => (a.time === b.time ? Number(a.isEnd) - Number(b.isEnd) : a.time - b.time));
  const head: Mark = mark(-1, false);
  const begins = new Map<number, Mark>();
  let last = head;
  for (const { index, isEnd } of events) {
    const next = mark(index, isEnd);
    next.before = last;
    last.after = next;
    last = next;
    if (isEnd) begins.get(index)!.end = next;
    else begins.set(index, next);
  }
  return head;
}

const mark = (index: number, isEnd: boolean): Mark => ({
  index,
  isEnd,
  before: undefined,
  after: undefined,
  end: undefined,
});

function unlink(one: Mark): void {
  one.before!.after = one.after;
  if (one.after !== undefined) one.after.before = one.before;
}

function relink(one: Mark): void {
  one.before!.after = one;
  if (one.after !== undefined) one.after.before = one;
}

/** Takes a call out: its beginning, then its end; put back in the other order. */
function take(begin: Mark): void {
  unlink(begin);
  unlink(begin.end!);
}

function putBack(begin: Mark): void {
  relink(begin.end!);
  relink(begin);
}

/** Which calls are done, as the part of a key. */
class Done {
  readonly #words: BigUint64Array;

  constructor(count: number) {
    this.#words = new BigUint64Array(Math.ceil(count / 64) || 1);
  }

  flip(index: number): void {
    this.#words[index >> 6]! ^= 1n << BigInt(index & 63);
  }

  get key(): string {
    return this.#words.join(',');
  }
}

export interface Verdict {
  isLinearizable: boolean;
  /** An order that explains the history; else the longest one that was found. */
  order: number[];
}

export function linearize<S, O>(model: Model<S, O>, calls: readonly Call<O>[]): Verdict {
  const head = marksOf(calls);
  const done = new Done(calls.length);
  const tried = new Set<string>();
  const trail: { begin: Mark; state: S }[] = [];
  let open = calls.filter(({ ended }) => ended !== Number.POSITIVE_INFINITY).length;
  let state = model.initial;
  let longest: number[] = [];
  let at = head.after;
  const order = (): number[] => trail.map(({ begin }) => begin.index);
  while (open > 0) {
    if (at === undefined || (at.isEnd && isAnswered(calls, at))) {
      // A call that was answered is not explained yet: the last choice was wrong.
      if (trail.length > longest.length) longest = order();
      const last = trail.pop();
      if (last === undefined) return { isLinearizable: false, order: longest };
      putBack(last.begin);
      done.flip(last.begin.index);
      if (isAnswered(calls, last.begin)) open++;
      state = last.state;
      at = last.begin.after;
      continue;
    }
    const next = at.isEnd ? undefined : model.step(state, calls[at.index]!.call);
    if (next !== undefined) {
      done.flip(at.index);
      const key = `${done.key} ${model.keyOf(next)}`;
      if (!tried.has(key)) {
        tried.add(key);
        trail.push({ begin: at, state });
        state = next;
        if (isAnswered(calls, at)) open--;
        take(at);
        at = head.after;
        continue;
      }
      done.flip(at.index);
    }
    at = at.after;
  }
  return { isLinearizable: true, order: order() };
}

const isAnswered = <O>(calls: readonly Call<O>[], { index }: Mark): boolean =>
  calls[index]!.ended !== Number.POSITIVE_INFINITY;

/** A register of numbers; -1 before the first write. What is read is what was written last. */
export interface RegisterCall {
  kind: 'read' | 'write';
  value: number;
}

export const register: Model<number, RegisterCall> = {
  initial: -1,
  step: (state, { kind, value }) => (kind === 'write' || value === state ? value : undefined),
  keyOf: String,
};

/** A set that only grows; a read sees all of it. */
export type SetCall = { kind: 'add'; value: number } | { kind: 'read'; values: readonly number[] };

export const growingSet: Model<readonly number[], SetCall> = {
  initial: [],
  step(state, call) {
    if (call.kind === 'read')
      return call.values.length === state.length &&
        call.values.every((value) => state.includes(value))
        ? state
        : undefined;
    return state.includes(call.value) ? undefined : [...state, call.value];
  },
  keyOf: (state) => [...state].sort((a, b) => a - b).join(),
};
