// Whether a history of calls could have come from one object that does one call after another
// (linearizability). A call takes effect between its beginning and its end; a call whose answer was
// lost may have taken effect at any time after its beginning, or never.

/** One call of a client; `end` is infinite when no answer came. */
export interface Operation<T> {
  kind: 'write' | 'read';
  begin: number;
  end: number;
  /** What was written or added, or what a read gave. */
  value: T;
}

/** Why a register, which holds `initial` at first, cannot have behaved so; undefined when it can. */
export function faultOfRegister(
  history: readonly Operation<number>[],
  initial = 0,
): string | undefined {
  const calls = history
    .filter(({ kind, end }) => kind === 'write' || Number.isFinite(end))
    .sort((a, b) => a.begin - b.begin);
  const answered = calls.filter(({ end }) => Number.isFinite(end)).length;
  const seen = new Set<string>();
  const all = (1n << BigInt(calls.length)) - 1n;
  // Depth first: what has taken effect, what the register holds, answered calls among the effects.
  const open: [done: bigint, value: number, answers: number][] = [[0n, initial, 0]];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const [done, value, answers] = state;
    if (answers === answered || done === all) return undefined;
    const mark = `${done.toString(36)} ${value}`;
    if (seen.has(mark)) continue;
    seen.add(mark);
    let soonest = Number.POSITIVE_INFINITY;
    for (const [i, call] of calls.entries()) {
      if (call.begin > soonest) break;
      if ((done >> BigInt(i)) & 1n) continue;
      soonest = Math.min(soonest, call.end);
      if (call.kind === 'read' && call.value !== value) continue;
      const next = call.kind === 'write' ? call.value : value;
      open.push([done | (1n << BigInt(i)), next, answers + (Number.isFinite(call.end) ? 1 : 0)]);
    }
  }
  return `no order explains ${JSON.stringify(calls)}`;
}

interface Reading {
  begin: number;
  end: number;
  values: readonly number[];
}

/** Values that only ever grow in number: a set, or with `ordered` a list that is appended to. */
interface Growing {
  adds: readonly Operation<number>[];
  reads: readonly Operation<readonly number[]>[];
  ordered: boolean;
}

/** Why a growing set or list cannot have behaved so; undefined when it can. */
export function faultOfGrowing({ adds, reads, ordered }: Growing): string | undefined {
  const answered: Reading[] = reads
    .filter(({ end }) => Number.isFinite(end))
    .map(({ begin, end, value }) => ({ begin, end, values: value }))
    .sort((a, b) => a.values.length - b.values.length || a.begin - b.begin);
  const addOf = new Map(adds.map((add) => [add.value, add]));
  for (const reading of answered) {
    const fault = faultOfReading(reading, adds, addOf);
    if (fault) return fault;
  }
  for (const [i, later] of answered.entries()) {
    const before = answered[i - 1];
    if (before === undefined) continue;
    const holds = new Set(later.values);
    const isPart = ordered
      ? before.values.every((value, place) => later.values[place] === value)
      : before.values.every((value) => holds.has(value));
    if (!isPart)
      return `neither of two reads contains the other: ${before.values} | ${later.values}`;
  }
  return faultOfTime(answered);
}

function faultOfReading(
  { begin, end, values }: Reading,
  adds: readonly Operation<number>[],
  addOf: ReadonlyMap<number, Operation<number>>,
): string | undefined {
  const holds = new Set(values);
  if (holds.size !== values.length) return `a value is there twice: ${values}`;
  for (const value of values) {
    const add = addOf.get(value);
    if (add === undefined) return `${value} was never added`;
    if (add.begin > end) return `${value} was read before it was added`;
  }
  const lost = adds.find((add) => add.end < begin && !holds.has(add.value));
  return lost && `${lost.value} was acknowledged before a read that lacks it`;
}

/** Reads in order of what they saw: one that saw less must not begin after the end of one that saw more. */
function faultOfTime(bySize: readonly Reading[]): string | undefined {
  let soonest = Number.POSITIVE_INFINITY;
  for (let i = bySize.length - 1, next = i; i >= 0; i = next) {
    const { length } = bySize[i]!.values;
    for (; next >= 0 && bySize[next]!.values.length === length; next--) {
      if (bySize[next]!.begin > soonest) return `a read of ${length} began after one had seen more`;
    }
    for (let same = next + 1; same <= i; same++) soonest = Math.min(soonest, bySize[same]!.end);
  }
  return undefined;
}
