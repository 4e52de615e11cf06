// Computes the number of values in a reply if every row were a single one. A variable may contain another
// variable twice, so a short query can print an exponential number of values.
// Invariant: every part of a plan is visited once.
import type { Expression } from '../../plan/expression.js';
import type { Output, Plan, Statement } from '../../plan/plan.js';

/** Larger sizes count as infinite; sums up to here are exact. */
const sizeMax = 1e12;

class Sizes {
  readonly #bySlot = new Map<number, number>();
  readonly #byPart = new Map<object, number>();

  bind(statements: readonly Statement[]): void {
    for (const statement of statements) {
      if (statement.kind === 'bind') this.#bySlot.set(statement.slot, this.of(statement.value));
      else if (statement.kind === 'for') this.bind(statement.body);
    }
  }

  of(part: unknown): number {
    if (typeof part !== 'object' || part === null) return 0;
    const known = this.#byPart.get(part);
    if (known !== undefined) return known;
    const size = Math.min(sizeMax, this.#measure(part));
    this.#byPart.set(part, size);
    return size;
  }

  #measure(part: object): number {
    if (Array.isArray(part)) return part.reduce((sum, item) => sum + this.of(item), 0);
    const { kind } = part as { kind?: Expression['kind'] };
    if (kind === 'literal') return 1;
    if (kind === 'with') {
      const { lets, value } = part as Extract<Expression, { kind: 'with' }>;
      for (const each of lets) this.#bySlot.set(each.slot, this.of(each.value));
      return this.of(value);
    }
    if (kind === 'slot') return this.#bySlot.get((part as { slot: number }).slot) ?? 1;
    return 1 + Object.values(part).reduce<number>((sum, item) => sum + this.of(item), 0);
  }
}

export function printedSize({ statements, output }: Plan): number {
  const sizes = new Sizes();
  sizes.bind(statements);
  return listValues(output).reduce((sum, value) => sum + sizes.of(value), 0);
}

const listValues = (output: Output): Expression[] =>
  output.kind === 'object'
    ? output.members.map(({ value }) => value)
    : output.kind === 'inspection'
      ? []
      : [output.value];
