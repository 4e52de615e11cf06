// Changes made by the oracle (helixql.md 3.11 to 3.13): values converted to their declared types,
// defaults, uniqueness, deletion with edges.
import { fail } from '../../../engine/base/errors.js';
import { integerRange } from '../../../engine/base/integer.js';
import type { ElementType, PropertyType, ScalarName } from '../../../engine/base/schema.js';
import { Instant, Uuid } from '../../../engine/base/value.js';
import type { Assignment, End } from '../../../engine/plan/expression.js';
import { typeNamed } from './oracle-graph.js';
import {
  type OracleElement,
  isList,
  isNumber,
  Item,
  Rec,
  rowsOf,
  type Value,
} from './oracle-value.js';
import { vectorOf } from './oracle-argument.js';
import { resolve, type Run } from './oracle-run.js';
import { single } from './oracle-compare.js';

function convert(type: PropertyType, value: Value, param: string): Value {
  if (type.kind === 'list') {
    const items = isList(value) ? value : [value];
    return items.map((item) => convert(type.of, item, param));
  }
  return convertScalar(type.name, value) ?? fail('PARAM_TYPE', { param, type: type.name, got: '' });
}

function convertScalar(name: ScalarName, value: Value): Value {
  switch (name) {
    case 'String':
      return typeof value === 'string' ? value : null;
    case 'Boolean':
      return typeof value === 'boolean' ? value : null;
    case 'Date':
      return value instanceof Instant ? value : null;
    case 'ID':
      if (value instanceof Item) return new Uuid(value.element.uuid);
      return value instanceof Uuid ? value : null;
    default:
      return isNumber(value) ? convertNumber(name, value) : null;
  }
}

function convertNumber(name: ScalarName, value: number | bigint): Value {
  if (name === 'F64') return Number(value) + 0;
  const range = integerRange[name] ?? { min: -3.4028234663852886e38, max: 3.4028234663852886e38 };
  const stored = name === 'F32' ? single(value) : value;
  if (stored >= range.min && stored <= range.max)
    return typeof stored === 'number' ? stored + 0 : stored;
  fail('PARAM_RANGE', { param: name, min: range.min, max: range.max, got: value });
}

/** Run-time null is skipped, a literal NONE unsets; the names that got a value or lost theirs. */
function assign(
  run: Run,
  type: ElementType,
  set: readonly Assignment[],
  values: Map<string, Value>,
): Set<string> {
  const touched = new Set<string>();
  const computed = set.map(({ unset, value }) => (unset ? null : run.value(value)));
  set.forEach(({ property: name, unset }, i) => {
    const property = type.properties.find((each) => each.name === name);
    const value = computed[i]!;
    if (!property || (value === null && !unset)) return;
    touched.add(name);
    if (unset) values.delete(name);
    else values.set(name, convert(property.type, value, name));
  });
  return touched;
}

function newValues(run: Run, type: ElementType, set: readonly Assignment[]): Map<string, Value> {
  const values = new Map<string, Value>();
  const touched = assign(run, type, set, values);
  for (const { name, type: of, default: given } of type.properties) {
    if (given === undefined || touched.has(name)) continue;
    const value = given.kind === 'now' ? run.now : given.value;
    if (value !== null) values.set(name, convert(of, value, name));
  }
  return values;
}

export function createNode(run: Run, name: string, set: readonly Assignment[]): Item {
  const type = typeNamed(run.graph, 'node', name);
  return new Item(run.graph.create(type, newValues(run, type, set)));
}

export function createVector(run: Run, name: string, value: Value, set: readonly Assignment[]) {
  const vector = vectorOf(value);
  const type = typeNamed(run.graph, 'vector', name);
  const values = newValues(run, type, set);
  run.graph.checkDimension(name, vector, true);
  const made = new Item(run.graph.create(type, values, { vector }));
  made.fresh = true;
  return made;
}

/** The element at the end of an edge, of the type that the edge demands. */
function endOf(run: Run, edge: ElementType, end: 'from' | 'to', value: Value): OracleElement {
  const found = resolve(run, value, `the ${end} end`);
  if (edge.kind !== 'edge') throw new RangeError('no edge type');
  const { from, to } = edge;
  const wanted = edge[end];
  if (found.type.kind !== wanted.kind || found.type.name !== wanted.name) {
    const args = { edge: edge.name, from: from.name, to: to.name, got: found.type.name };
    fail('EDGE_ENDPOINT_TYPE', args);
  }
  return found;
}

function createEdge(
  run: Run,
  type: ElementType,
  [from, to]: readonly [OracleElement, OracleElement],
  set: readonly Assignment[],
): Item {
  const values = newValues(run, type, set);
  const others = run.graph.edges(from, [type.name], 'from').filter((edge) => edge.to === to);
  if (type.kind === 'edge' && type.unique && others.length > 0)
    fail('UNIQUE_VIOLATION', { type: type.name, property: 'From, To' });
  return new Item(run.graph.create(type, values, { from, to }));
}

export function createEdges(
  run: Run,
  name: string,
  set: readonly Assignment[],
  ends: Record<'from' | 'to', End>,
): Value {
  const type = typeNamed(run.graph, 'edge', name);
  return eachPair(run, type, ends, (pair) => createEdge(run, type, pair, set));
}

type Pair = readonly [OracleElement, OracleElement];

/** From-major, all ends before the first edge; one edge when both ends are single. */
function eachPair(
  run: Run,
  type: ElementType,
  ends: Record<'from' | 'to', End>,
  make: (pair: Pair) => Item,
): Value {
  const [from, to] = (['from', 'to'] as const).map((end) => {
    const { value, many } = ends[end];
    const given = run.value(value);
    return (many ? rowsOf(given) : [given]).map((one) => endOf(run, type, end, one));
  });
  const made = from!.flatMap((a) => to!.map((b) => make([a, b])));
  return ends.from.many || ends.to.many ? made : made[0]!;
}

/** One edge per row. */
export function createEdgeAt(
  run: Run,
  name: string,
  set: readonly Assignment[],
  ends: Record<'from' | 'to', Value>,
): Item {
  const type = typeNamed(run.graph, 'edge', name);
  const pair = [endOf(run, type, 'from', ends.from), endOf(run, type, 'to', ends.to)] as const;
  return createEdge(run, type, pair, set);
}

export function upsertEdges(
  run: Run,
  {
    type: name,
    from,
    to,
    ...made
  }: { type: string; slot: number; set: Assignment[] } & Record<'from' | 'to', End>,
): Value {
  const type = typeNamed(run.graph, 'edge', name);
  return eachPair(run, type, { from, to }, (pair) => upsertBetween(run, type, pair, made));
}

function upsertBetween(
  run: Run,
  type: ElementType,
  pair: Pair,
  { slot, set }: { slot: number; set: Assignment[] },
): Item {
  const found = run.graph.edges(pair[0], [type.name], 'from').find((edge) => edge.to === pair[1]);
  run.slots[slot] = null;
  if (found === undefined) return createEdge(run, type, pair, set);
  update(run, slot, set, [found]);
  return new Item(found);
}

/** Each distinct element once, from its state before the step; uniqueness is judged at the end. */
export function update(
  run: Run,
  slot: number,
  set: readonly Assignment[],
  elements: readonly OracleElement[],
): void {
  const changes = [...new Set(elements)].map((element) => {
    run.slots[slot] = new Item(element);
    const values = new Map(element.values);
    assign(run, element.type, set, values);
    return { element, values };
  });
  for (const { element, values } of changes) element.values = values;
  for (const type of new Set(changes.map(({ element }) => element.type)))
    run.graph.checkUnique(type);
}

/** Elements of a value, inside lists and records too. */
export function elementsIn(value: Value): OracleElement[] {
  if (value instanceof Item) return [value.element];
  if (isList(value)) return value.flatMap(elementsIn);
  return value instanceof Rec ? value.entries.flatMap(([, inner]) => elementsIn(inner)) : [];
}
