// Sources and steps of the oracle: every step takes the whole list of rows and gives a whole list.
import { unreachable } from '../../../engine/base/assert.js';
import { limitTable } from '../../../engine/base/limits.js';
import { fail } from '../../../engine/base/errors.js';
import type { PropertyType, TypeRef } from '../../../engine/base/schema.js';
import type { Source, Step } from '../../../engine/plan/expression.js';
import { GroupRec } from './oracle-print.js';
import { type OracleElement, isList, Item, Rec, rowsOf, type Value } from './oracle-value.js';
import { shortestPath } from './oracle-path.js';
import { numberOf, vectorOf } from './oracle-argument.js';
import { find, keepAll, perItem, type Run } from './oracle-run.js';
import {
  fuse,
  rerankMMR,
  rerankRRF,
  searchAnyVector,
  searchText,
  searchVector,
  searchWithin,
} from './oracle-search.js';
import { compareKeys, distinct, equal, same, singles } from './oracle-compare.js';
import { fromEnd, otherEnds, walk } from './oracle-walk.js';
import { createEdgeAt, createNode, createVector, update } from './oracle-write.js';

type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;
type SourceOf<K extends Source['kind']> = Extract<Source, { kind: K }>;
type Rows = readonly Value[];

const itemsOf = (elements: readonly OracleElement[]) => elements.map((each) => new Item(each));

export function open(run: Run, source: Source): Rows {
  switch (source.kind) {
    case 'scan':
      return itemsOf(run.graph.all(...source.types));
    case 'byId':
      return byId(run, source);
    case 'lookup':
      return lookup(run, source);
    case 'batch':
      return batch(run, source);
    case 'value':
      return rowsOf(run.value(source.of));
    case 'items': {
      const { start, end } = source;
      return run.items
        .slice(start, end < 0 ? undefined : end)
        .filter(({ element }) => element.alive);
    }
    case 'set':
      return combine(run, source);
    case 'fuse':
      return fuse(run, source);
    case 'searchVector':
      return searchVector(run, source);
    case 'searchAnyVector':
      return searchAnyVector(run, source);
    case 'searchText':
      return searchText(run, source);
    default:
      return unreachable(source);
  }
}

function combine(run: Run, { operation, of }: SourceOf<'set'>): Rows {
  const [first = [], ...others] = of.map((each) => rowsOf(run.value(each)));
  if (operation === 'union') return distinct([...first, ...others.flat()]);
  const isIn = (row: Value) => (list: Rows) => list.some((other) => same(other, row));
  return distinct(first).filter((row) =>
    operation === 'except' ? !others.some(isIn(row)) : others.every(isIn(row)),
  );
}

function batch(run: Run, { types, property, values, nulls }: SourceOf<'batch'>): Rows {
  const given = run.value(values);
  if (given === null) fail('PARAM_MISSING', { owner: '', param: 'values', type: 'a list' });
  const isId = property === 'id' && types.every((type) => !declares(run, type, property));
  return rowsOf(given).flatMap((value): Rows => {
    const found = run.graph.all(...types).filter((element) => {
      if (isId) return value !== null && find(run, value) === element;
      const declared = declares(
        run,
        { kind: element.type.kind, name: element.type.name },
        property,
      );
      const cut = declared && isSingle(declared.type) ? singles : (one: Value) => one;
      const own = element.values.get(property) ?? null;
      return own !== null && value !== null && equal(cut(own), cut(value));
    });
    return found.length === 0 && nulls ? [null] : itemsOf(found);
  });
}

const declares = (run: Run, type: TypeRef, name: string) =>
  run.graph.type(type).properties.find((property) => property.name === name);

function byId(run: Run, { type, others = [], id, miss }: SourceOf<'byId'>): Rows {
  const value = run.value(id);
  if (value === null && miss === 'error')
    fail('PARAM_MISSING', { owner: type.name, param: 'id', type: 'ID' });
  const found = find(run, value);
  const isWanted = [type, ...others].some(
    (one) => found?.type.kind === one.kind && found.type.name === one.name,
  );
  if (found && isWanted) return [new Item(found)];
  return miss === 'error' ? fail('NO_VALUE_FOUND', { what: type.name }) : [];
}

const isSingle = (type: PropertyType): boolean =>
  type.kind === 'list' ? isSingle(type.of) : type.name === 'F32';

function lookup(run: Run, { type, property, value, first, miss }: SourceOf<'lookup'>): Rows {
  const wanted = run.value(value);
  const declared = run.graph.type(type).properties.find(({ name }) => name === property)!;
  const cut = isSingle(declared.type) ? singles : (one: Value) => one;
  const found = run.graph.all(type).filter((element) => {
    const own = element.values.get(property) ?? null;
    return wanted !== null && own !== null && equal(cut(own), cut(wanted));
  });
  if (first && found.length === 0 && miss === 'error') fail('NO_VALUE_FOUND', { what: type.name });
  return itemsOf(first ? found.slice(0, 1) : found);
}

/** Elements of the rows; graph steps pass over everything else. */
const live = (rows: Rows): OracleElement[] =>
  rows.flatMap((row) => (row instanceof Item && row.element.alive ? [row.element] : []));

function graphStep(run: Run, step: StepOf<'neighbours' | 'edges' | 'end'>, rows: Rows): Item[] {
  if (step.kind === 'end' && step.end === 'other') return otherEnds(rows);
  if (step.kind === 'end') {
    const edges = live(rows).filter((edge) => edge.from !== undefined);
    const wanted = edges.filter((edge) => step.edge === undefined || edge.type.name === step.edge);
    const { end } = step;
    return itemsOf(wanted.map((edge) => edge[end === 'from' ? 'from' : 'to']!));
  }
  const [near, far] =
    step.direction === 'out' ? (['from', 'to'] as const) : (['to', 'from'] as const);
  const reached = live(rows).flatMap((element) => {
    if (step.kind === 'edges' && step.turn && element.type.kind === 'edge')
      return step.edges.includes(element.type.name) ? [element[far]!] : [];
    const edges = run.graph.edges(element, step.edges, near);
    return step.kind === 'edges' ? edges : edges.map((edge) => edge[far]!);
  });
  if (step.kind === 'edges' || step.farKind === undefined) return itemsOf(reached);
  return itemsOf(reached.filter((element) => element.type.kind === step.farKind));
}

function distinctBy(
  run: Run,
  { slot, keys }: NonNullable<StepOf<'dedup'>['by']>,
  rows: Rows,
): Rows {
  const keyed = rows.map((row) => keys.map((value) => perItem(run, { slot, value }, row)));
  const isFirst = (i: number) => {
    const first = keyed.findIndex((other) => other.every((key, k) => same(key, keyed[i]![k]!)));
    return first === i;
  };
  return rows.filter((_, i) => isFirst(i));
}

function intersect(run: Run, { of }: StepOf<'intersect'>, rows: Rows): Rows {
  const reached = rows.map((row) => rowsOf(perItem(run, of, row)));
  const [first = [], ...rest] = reached;
  return distinct(first).filter((item) =>
    rest.every((list) => list.some((other) => same(item, other))),
  );
}

function order(run: Run, { slot, keys }: StepOf<'order'>, rows: Rows): Rows {
  const keyed = rows.map((row) => ({
    row,
    keys: keys.map(({ value }) => perItem(run, { slot, value }, row)),
  }));
  keyed.sort((a, b) => {
    for (const i of keys.keys()) {
      const { descending, nullsFirst } = keys[i]!;
      const [x, y] = [a.keys[i]!, b.keys[i]!].map((key) => (isList(key) ? (key[0] ?? null) : key));
      if (nullsFirst && (x === null) !== (y === null)) return x === null ? -1 : 1;
      const result = compareKeys(x!, y!, descending);
      if (result !== 0) return result;
    }
    return 0;
  });
  return keyed.map(({ row }) => row);
}

/** The first page: where the next begins is for the engine to say. */
function page(run: Run, { slot, keys, count, shape }: StepOf<'page'>, rows: Rows): Rows {
  const most = numberOf(run.value(count), 'n', 1, limitTable.search_k.default);
  const items = distinct(rows).filter((row) => row instanceof Item);
  const id = { value: { kind: 'slot', slot }, descending: false, nullsFirst: false } as const;
  const sorted = order(run, { kind: 'order', slot, keys: [...keys, id] }, items);
  const shown = sorted.slice(0, most);
  const list = shape ? shown.map((row) => perItem(run, { slot, value: shape }, row)) : shown;
  return [
    new Rec([
      ['items', list],
      ['next', sorted.length > most ? 'more' : null],
    ]),
  ];
}

function group(run: Run, step: StepOf<'group'>, rows: Rows): Rows {
  const { slot, keys, data, shape } = step;
  const groups: { keys: Value[]; rows: Value[]; items: Value[] }[] = [];
  for (const row of rows) {
    const values = keys.map(({ value }) => perItem(run, { slot, value }, row));
    let found = groups.find((one) => one.keys.every((key, i) => same(key, values[i]!)));
    if (found === undefined) groups.push((found = { keys: values, rows: [], items: [] }));
    const own = step.keep && row instanceof Item ? ownOf(run, row) : row;
    keepAll(run, step.keep, own);
    found.rows.push(own);
    found.items.push(shape ? perItem(run, { slot, value: shape }, own) : own);
  }
  return groups.map((one) => {
    const count = ['count', one.items.length] as const;
    const named = keys.map(({ name }, i) => [name, one.keys[i]!] as const);
    const shown = data ? [count, ['data', one.items] as const] : [...named, count];
    return new GroupRec(shown, named, step.rows ? one.rows : one.items);
  });
}

/** The item as one of a group: what is computed for it there is not seen elsewhere. */
function ownOf(run: Run, item: Item): Item {
  const own: Item = Object.assign(Object.create(Item.prototype), item);
  run.kept.set(own, new Map(run.kept.get(item)));
  return own;
}

function slice(run: Run, { start, end }: StepOf<'range'>, rows: Rows): Rows {
  const [from, to] = [start, end].map((bound) =>
    bound === null
      ? rows.length
      : Math.min(rows.length, numberOf(run.value(bound), 'RANGE', 0, Infinity)),
  );
  return rows.slice(from, to);
}

/** As the element is stored now, with the search attributes of the row it was. */
const refreshed = ({ element, score, distance, reranked, share, trail }: Item) =>
  new Item(element, score, distance, reranked, share, trail);

function change(run: Run, { slot, set }: StepOf<'update'>, rows: Rows): Rows {
  const items = rows.filter((row): row is Item => row instanceof Item && row.element.alive);
  update(
    run,
    slot,
    set,
    items.map(({ element }) => element),
  );
  return items.map(refreshed);
}

function upsert(run: Run, step: StepOf<'upsertNode' | 'upsertVector'>, rows: Rows): Rows {
  const [row] = rows;
  if (row instanceof Item && row.element.alive) {
    update(run, step.slot, step.set, [row.element]);
    if (step.kind === 'upsertVector') {
      run.slots[step.slot] = refreshed(row);
      const vector = vectorOf(run.value(step.vector));
      run.graph.checkDimension(step.type, vector, true);
      row.element.vector = vector;
    }
    const changed = refreshed(row);
    changed.fresh = step.kind === 'upsertVector';
    return [changed];
  }
  run.slots[step.slot] = null;
  if (step.kind === 'upsertNode') return [createNode(run, step.type, step.set)];
  return [createVector(run, step.type, run.value(step.vector), step.set)];
}

function addEdges(run: Run, step: StepOf<'addEdge'>, rows: Rows): Rows {
  return rows.map((row) => {
    run.slots[step.slot] = row;
    const end = (value: typeof step.from) => (value === undefined ? row : run.value(value));
    return createEdgeAt(run, step.type, step.set, { from: end(step.from), to: end(step.to) });
  });
}

export function take(run: Run, step: Step, rows: Rows): Rows {
  switch (step.kind) {
    case 'neighbours':
    case 'edges':
    case 'end':
      return graphStep(run, step, rows);
    case 'expand':
      return walk(run, step, rows);
    case 'origin':
      return fromEnd(step, rows);
    case 'where':
      return rows.filter((row) => perItem(run, step.condition, row) === true);
    case 'intersect':
      return intersect(run, step, rows);
    case 'range':
      return slice(run, step, rows);
    case 'first':
      return rows.slice(0, 1);
    case 'count':
      return [rows.length];
    case 'dedup':
      return step.by === undefined ? distinct(rows) : distinctBy(run, step.by, rows);
    case 'map':
      return rows.map((row) => perItem(run, step.value, row));
    case 'order':
      return order(run, step, rows);
    case 'page':
      return page(run, step, rows);
    case 'group':
      return group(run, step, rows);
    case 'searchWithin':
      return searchWithin(run, step, rows);
    case 'rerankRRF':
      return rerankRRF(run, step, rows);
    case 'rerankMMR':
      return rerankMMR(run, step, rows);
    case 'update':
      return change(run, step, rows);
    case 'upsertNode':
    case 'upsertVector':
      return upsert(run, step, rows);
    case 'addEdge':
      return addEdges(run, step, rows);
    case 'shortestPath':
      return shortestPath(run, step, rows);
    default:
      return unreachable(step);
  }
}
