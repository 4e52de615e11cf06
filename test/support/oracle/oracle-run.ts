// One run of a plan by the oracle: what its parts share, and how they call each other.
import { fail } from '../../../engine/base/errors.js';
import { type Instant, Uuid } from '../../../engine/base/value.js';
import type { Expression, ItemExpression, Pipeline } from '../../../engine/plan/expression.js';
import type { Keep } from '../../../engine/plan/plan.js';
import type { OracleGraph } from './oracle-graph.js';
import { type OracleElement, isList, Item, Rec, rowsOf, type Value } from './oracle-value.js';

/** The rules leave the answer open: the case says nothing about the engine. */
export class Undetermined extends Error {
  override readonly name = 'Undetermined';
}

export interface Run {
  readonly graph: OracleGraph;
  readonly slots: Value[];
  readonly args: readonly Value[];
  readonly now: Instant;
  readonly compat: boolean;
  /** A session's traversal. */
  readonly items: readonly Item[];
  /** What bindings have computed for their items, by key. */
  readonly kept: Map<Value, Map<number, Value>>;
  value(expression: Expression): Value;
  rows(pipeline: Pipeline): readonly Value[];
}

/** The value of an expression with the row as its current item. */
export function perItem(run: Run, { slot, value }: ItemExpression, row: Value): Value {
  run.slots[slot] = row;
  return run.value(value);
}

/** Computes what the shape of a variable, or of a group's items, shows of each of its items. */
export function keepAll(run: Run, keep: Keep | undefined, value: Value): Value {
  const items = keep ? rowsOf(value).filter((item) => item !== null) : [];
  for (const item of items)
    for (const { key, value: member, inner } of keep!.members) {
      const kept = keepAll(run, inner, perItem(run, { slot: keep!.slot, value: member }, item));
      run.kept.set(item, new Map([...(run.kept.get(item) ?? []), [key, kept]]));
    }
  return value;
}

/** A declared property hides a search attribute; what an item does not have is null. */
export function memberOf(run: Run, value: Value, name: string): Value {
  if (isList(value)) return value.map((item) => memberOf(run, item, name));
  if (value instanceof Rec) return value.get(name);
  return value instanceof Item ? memberOfItem(run, value, name) : null;
}

function memberOfItem(run: Run, item: Item, name: string): Value {
  const { element, score, distance, reranked, trail } = item;
  if (element.type.properties.some((property) => property.name === name))
    return item.values.get(name) ?? null;
  switch (name) {
    case 'id':
      return new Uuid(element.uuid);
    case 'label':
      return element.type.name;
    case 'from_node':
      return element.from ? new Uuid(element.from.uuid) : null;
    case 'to_node':
      return element.to ? new Uuid(element.to.uuid) : null;
    case 'data':
      return item.vector ?? null;
    case 'hops':
      return trail.hops ?? null;
    case 'score':
      return (run.compat && !reranked ? (distance ?? score) : score) ?? null;
    case 'distance':
      return distance ?? null;
    default:
      return null;
  }
}

/** Names and values of an item as it is printed, but for some names. */
export function membersOf(run: Run, item: Value, except: readonly string[]): [string, Value][] {
  if (item instanceof Rec)
    return item.entries.filter(([name]) => !except.includes(name)).map(([n, v]) => [n, v]);
  if (!(item instanceof Item)) return [];
  const own = item.element.type.properties.map(({ name }) => name);
  const ends = item.element.from ? ['from_node', 'to_node'] : [];
  const search = [
    ...(item.trail.hops === undefined ? [] : ['hops']),
    ...(item.score === undefined ? [] : ['score']),
    ...(item.distance === undefined ? [] : ['distance']),
  ].filter((name) => !own.includes(name));
  return ['id', 'label', ...ends, ...search, ...own]
    .filter((name) => !except.includes(name))
    .map((name) => [name, memberOf(run, item, name)]);
}

/** The one existing element that a value names. */
export function resolve(run: Run, value: Value, place: string): OracleElement {
  if (isList(value)) {
    if (value.length > 1) fail('EXPECTED_ONE', { place, count: value.length });
    return resolve(run, value[0] ?? null, place);
  }
  const found = find(run, value);
  return found ?? fail('NO_VALUE_FOUND', { what: place });
}

export function find(run: Run, value: Value): OracleElement | undefined {
  if (value instanceof Item) return value.element.alive ? value.element : undefined;
  return value instanceof Uuid ? run.graph.find(value.text) : undefined;
}
