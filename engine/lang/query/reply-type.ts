// Computes the type of a returned expression, by the same rules by which shape.ts converts expressions into
// printed values.
// Invariant: a value that may be null has a nullable type. A stored property may always be unset.
import { singleMember } from '../type/visible-member.js';
import type { Expression } from '../../plan/expression.js';
import {
  nullable,
  type OutputMember,
  type OutputType,
  unknownOutput,
} from '../../plan/output-type.js';
import type { Context } from '../type/context.js';
import { elementMember, elementMembers } from '../type/schema-index.js';
import { keepsShape } from '../type/shape.js';
import { isList, type Shape, type TypedExpr } from '../type/typed-expression.js';
import { isNullable, type ItemType } from '../type/type.js';

/** How a shape leaves the query. `bare`: a one-name projection becomes the value of that name. */
type Leaving = 'bare' | 'object';

export function inferOutputType(context: Context, typed: TypedExpr, leaving: Leaving): OutputType {
  return new TypeReader(context).whole(typed, leaving);
}

/** Members of every element. */
const sureMembers = new Set(['id', 'ID', 'label', 'from_node', 'to_node']);

/** Members that only a search sets: items of other sources do not have them. */
const isHitMember = (name: string): boolean => name === 'score' || name === 'distance';

/**
 * Maximum number of parts in a printed type. A variable that contains another one twice doubles the type with
 * every level, and every printer would print all of it.
 */
const partsMax = 5_000;

class TypeReader {
  readonly #types = new Map<ItemType, OutputType>();
  readonly #nonNullTypes = new Map<ItemType, OutputType>();
  readonly #wholes = {
    bare: new Map<TypedExpr, OutputType>(),
    object: new Map<TypedExpr, OutputType>(),
  };
  readonly #parts = new Map<OutputType, number>();
  /** Slots that contain an item of the value being shaped: it is never null. */
  readonly #items = new Set<number>();

  constructor(private readonly context: Context) {}

  /** Returns the type of a whole value, including lists and nulls. */
  whole(typed: TypedExpr, leaving: Leaving): OutputType {
    const known = this.#wholes[leaving];
    const found = known.get(typed) ?? this.#bounded(this.#read(typed, leaving));
    known.set(typed, found);
    return found;
  }

  /** Returns the type, or an unknown type if it has too many parts. */
  #bounded(type: OutputType): OutputType {
    return this.#countParts(type) > partsMax ? unknownOutput : type;
  }

  #countParts(type: OutputType): number {
    const known = this.#parts.get(type);
    if (known !== undefined) return known;
    const inner = (): number => {
      if (type.kind === 'list' || type.kind === 'nullable') return this.#countParts(type.of);
      if (type.kind !== 'record') return 0;
      return type.members.reduce((sum, member) => sum + this.#countParts(member.type), 0);
    };
    const parts = 1 + inner();
    this.#parts.set(type, parts);
    return parts;
  }

  #read(typed: TypedExpr, leaving: Leaving): OutputType {
    const { shape } = typed;
    const only = leaving === 'bare' ? singleMember(shape) : undefined;
    if (only !== undefined) {
      const of = this.#within(shape!, () => this.whole(only, 'bare'));
      return this.#spread(typed, of);
    }
    if (shape !== undefined) {
      const record: OutputType = { kind: 'record', members: this.#shaped(typed, shape) };
      return this.#spread(typed, record);
    }
    const groups = this.#groups(typed.type);
    if (groups !== undefined && isList(typed)) return groups;
    const item = this.#item(typed);
    if (!isList(typed)) return this.#isSure(typed) ? item : nullable(item);
    return { kind: 'list', of: this.#isSureRow(typed) ? item : nullable(item) };
  }

  /** Applies the cardinality to the type of a shaped value; null stays null. */
  #spread(typed: TypedExpr, of: OutputType): OutputType {
    if (isList(typed)) return { kind: 'list', of: this.#isSureRow(typed) ? of : nullable(of) };
    return this.#isSure(typed) ? of : nullable(of);
  }

  #within<T>({ slot }: Shape, read: () => T): T {
    this.#items.add(slot);
    const found = read();
    this.#items.delete(slot);
    return found;
  }

  #shaped(typed: TypedExpr, shape: Shape): OutputMember[] {
    return this.#within(shape, () =>
      shape.members.flatMap((member): OutputMember[] => {
        if (member.kind === 'hidden') return [];
        if (member.kind === 'spread') return this.#spreadMembers(typed.type, member.except);
        const inner = keepsShape(this.context, member.typed) ? 'object' : 'bare';
        return [{ name: member.name, type: this.whole(member.typed, inner) }];
      }),
    );
  }

  /** `..`: the members of all possible types. A member that one of them lacks is optional. */
  #spreadMembers(type: ItemType, except: readonly string[]): OutputMember[] {
    if (type.kind === 'record') {
      return [...type.members]
        .filter(([name]) => !except.includes(name))
        .map(([name, inner]) => ({ name, type: nullable(this.type(inner)) }));
    }
    if (type.kind !== 'element') return [];
    const { schema } = this.context;
    const names = elementMembers(schema, type.types);
    const mayAdd = type.hops && !except.includes('hops') && !names.includes('hops');
    const hops: OutputType = { kind: 'scalar', name: 'U32' };
    const added: OutputMember[] = mayAdd ? [{ name: 'hops', type: hops, optional: true }] : [];
    const own = names
      .filter((name) => name !== 'data' && !except.includes(name))
      .map((name): OutputMember => {
        const found = elementMember(schema, type.types, name);
        const isSure = sureMembers.has(name);
        const inner = found === undefined ? unknownOutput : this.type(found, true);
        const everywhere = type.types.every((one) => elementMember(schema, [one], name));
        const declared = type.types.some((one) => schema.property(one, name) !== undefined);
        const isHit = isHitMember(name) && !declared;
        const optional = !everywhere || isHit ? { optional: true as const } : {};
        return { name, type: isSure || isHit ? inner : nullable(inner), ...optional };
      });
    return [...own, ...added];
  }

  #item({ type, expression, items }: TypedExpr): OutputType {
    const isStored = expression.kind === 'property' || expression.kind === 'parameter';
    return this.type(type, isStored || items?.every((item) => this.#isSure(item)) === true);
  }

  /** `nonNull`: stored and received lists contain no null; lists that a query builds may contain nulls. */
  type(type: ItemType, nonNull = false): OutputType {
    const known = nonNull ? this.#nonNullTypes : this.#types;
    const found = known.get(type) ?? this.#bounded(this.#written(type, nonNull));
    known.set(type, found);
    return found;
  }

  #written(type: ItemType, nonNull: boolean): OutputType {
    switch (type.kind) {
      case 'list': {
        const groups = this.#groups(type.of);
        if (groups !== undefined) return groups;
        const of = this.type(type.of, nonNull);
        const isWhole = type.of.kind === 'element' || type.of.kind === 'record';
        const isSure = !isNullable(type.of) && (nonNull || isWhole);
        return { kind: 'list', of: isSure ? of : nullable(of) };
      }
      case 'element': {
        const data = this.context.compat && type.types.some(({ kind }) => kind === 'vector');
        const hops = type.hops ? { hops: true as const } : {};
        return { kind: 'element', types: type.types, hit: type.hit, ...hops, data };
      }
      case 'record': {
        const members = [...type.members].map(([name, inner]): OutputMember => {
          // Lists of elements or records are always present, possibly empty; any other member may be null.
          const isStream = inner.kind === 'list' && inner.of.kind !== 'scalar';
          const sure = this.type(inner);
          const isCount = type.groups !== undefined && name === 'count';
          const found = isStream || isCount ? sure : nullable(sure);
          const mayLack = isHitMember(name) || type.partial?.has(name);
          return { name, type: found, ...(mayLack && { optional: true }) };
        });
        return { kind: 'record', members };
      }
      case 'scalar':
        if (type.name === 'Unknown') return unknownOutput;
        if (type.name === 'Null') return { kind: 'literal', value: null };
        return { kind: 'scalar', name: type.name };
    }
  }

  /** [compat] A list of groups prints as one object whose members have the names of the groups. */
  #groups(type: ItemType): OutputType | undefined {
    if (!this.context.compat || type.kind !== 'record' || !type.groups) return undefined;
    const keys = [...type.members].filter(([name]) => name !== 'count');
    const data = type.members.get('data');
    // An unset key is not a member.
    const values: OutputType =
      type.groups.data && data !== undefined
        ? this.type(data)
        : {
            kind: 'record',
            members: keys.map(([name, of]) => ({ name, type: this.type(of), optional: true })),
          };
    const group: OutputType = {
      kind: 'record',
      members: [
        { name: 'count', type: { kind: 'scalar', name: 'U64' } },
        { name: 'values', type: values },
      ],
    };
    return {
      kind: 'record',
      members: [{ name: type.groups.word, type: { kind: 'map', of: group } }],
    };
  }

  /** Returns true if a single value is never null. */
  #isSure(typed: TypedExpr): boolean {
    if (typed.cardinality === 'opt') return false;
    if (typed.type.kind === 'element' || typed.type.kind === 'record') {
      return this.#isSureExpression(typed.expression, true);
    }
    return this.#isSureExpression(typed.expression, false);
  }

  #isSureExpression(expression: Expression, whole: boolean): boolean {
    switch (expression.kind) {
      case 'literal':
        return expression.value !== null;
      case 'now':
      case 'compare':
      case 'and':
      case 'or':
      case 'not':
      case 'exists':
      case 'list':
      case 'record':
      case 'embed':
        return true;
      case 'aggregate':
        return expression.function === 'COUNT';
      case 'parameter':
        return this.context.parameters[expression.index]?.optional === false;
      case 'slot':
        return this.#items.has(expression.slot) || this.#holdsSure(expression.slot, whole);
      case 'property': {
        const { of, name } = expression;
        const isItem = of.kind === 'slot' && this.#items.has(of.slot);
        return isItem && sureMembers.has(name);
      }
      case 'captured':
      case 'with':
        return this.#isSureExpression(expression.value, whole);
      case 'project':
        return this.#isSureExpression(expression.of, true);
      case 'pipeline': {
        const { source, steps, result } = expression;
        if (result === 'opt') return false;
        if (steps.at(-1)?.kind === 'count') return true;
        // Updating an element that was deleted before gives null, and so do its endpoints.
        const mayBeDeleted = this.context.drops > 0 && source.kind === 'value';
        return whole && !mayBeDeleted;
      }
      default:
        return whole;
    }
  }

  /**
   * Returns true if a variable of the query is never null; false for loop variables, whose values are
   * unknown.
   */
  #holdsSure(slot: number, whole: boolean): boolean {
    const bound = this.context.bound.get(slot);
    return bound === undefined ? whole : this.#isSureExpression(bound, whole);
  }

  /** Returns true if no row of a list is null. */
  #isSureRow({ type, expression }: TypedExpr): boolean {
    if (isNullable(type)) return false;
    if (type.kind === 'element' || type.kind === 'record') return true;
    if (expression.kind !== 'pipeline') return false;
    const last = expression.steps.at(-1);
    if (last?.kind === 'count') return true;
    if (last?.kind !== 'map') return false;
    const { slot, value } = last.value;
    const isItem = value.kind === 'property' && value.of.kind === 'slot' && value.of.slot === slot;
    return isItem && sureMembers.has(value.name);
  }
}
