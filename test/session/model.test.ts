// Random calls on two sessions against a model that does what the specification says with plain
// arrays: every reply, the traversal and the cursor agree, whatever fails in between and whatever
// other clients delete.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryUuid } from '../support/memory-view.js';
import { nextTurn } from '../support/run/next-turn.js';
import { Bench } from './library.js';

type Kind = 'node' | 'edge' | 'vector';

interface Element {
  id: number;
  kind: Kind;
  label: string;
  from?: number;
  to?: number;
  properties: Record<string, unknown>;
  vector?: [number, number];
}

interface Hit {
  id: number;
  score?: number;
}

const edgeEnds: Record<string, { from: Kind; to: Kind }> = {
  Wrote: { from: 'node', to: 'node' },
  Contains: { from: 'node', to: 'vector' },
};

/** The library as objects. */
class Graph {
  readonly elements = new Map<number, Element>();

  constructor() {
    const add = (element: Omit<Element, 'id'>) =>
      this.elements.set(this.elements.size + 1, { id: this.elements.size + 1, ...element });
    const node = (label: string, properties: Record<string, unknown>) =>
      add({ kind: 'node', label, properties });
    node('Author', { name: 'Ada', born: 1815 });
    node('Author', { name: 'Bo', born: null });
    node('Author', { name: 'Cy', born: 1990 });
    node('Book', { title: 'Notes', year: 1843, tags: ['math', 'machines'] });
    node('Book', { title: 'Rivers', year: 1999, tags: ['nature'] });
    node('Book', { title: 'Loops', year: 2001, tags: [] });
    const passage = (vector: [number, number], text: string) =>
      add({ kind: 'vector', label: 'Passage', properties: { text }, vector });
    passage([1, 0], 'the engine weaves');
    passage([3, 4], 'rivers meet the sea');
    passage([0, 2], 'a loop returns');
    const edge = (label: string, from: number, to: number, properties = {}) =>
      add({ kind: 'edge', label, from, to, properties });
    edge('Wrote', 1, 4, { role: 'author' });
    edge('Wrote', 2, 5, { role: 'author' });
    edge('Wrote', 3, 5, { role: 'editor' });
    edge('Wrote', 3, 6, { role: 'author' });
    for (const book of [4, 5, 6]) edge('Contains', book, book + 3);
  }

  remove(id: number): void {
    for (const { id: edge, from, to } of [...this.elements.values()])
      if (from === id || to === id) this.elements.delete(edge);
    this.elements.delete(id);
  }

  edges(id: number, label: string, end: 'from' | 'to'): Element[] {
    return [...this.elements.values()].filter((edge) => edge.label === label && edge[end] === id);
  }
}

type Call =
  | { tool: 'n_from_type' | 'e_from_type'; type: string }
  | { tool: 'out_step' | 'in_step' | 'out_e_step' | 'in_e_step'; label: string; kind?: string }
  | { tool: 'filter_items'; key: string; operator: string; value: unknown }
  | { tool: 'order_by'; key: string; order: string }
  | { tool: 'search_vector'; vector: [number, number]; k: number; scoreMin?: number }
  | { tool: 'collect'; range?: { start: number; end: number }; drop: boolean }
  | { tool: 'group_by' | 'aggregate_by'; keys: string[]; drop: boolean }
  | { tool: 'next' | 'reset' }
  | { tool: 'delete'; id: number };

const properties = 'name born title year tags text role id label from_node to_node score'.split(
  ' ',
);
const order = { '<': -1, '<=': -1, '>': 1, '>=': 1 } as Record<string, number>;

/** One session, played with arrays. */
class Model {
  items: Hit[] | undefined;
  cursor = 0;

  constructor(private readonly graph: Graph) {}

  print({ id, score }: Hit): Record<string, unknown> | undefined {
    const element = this.graph.elements.get(id);
    if (element === undefined) return undefined;
    const { label, from, to } = element;
    return {
      id: memoryUuid(id),
      label,
      ...(from && { from_node: memoryUuid(from), to_node: memoryUuid(to!) }),
      ...(score !== undefined && { score, distance: 1 - score }),
      ...element.properties,
    };
  }

  #alive(items = this.items ?? []): Hit[] {
    return items.filter(({ id }) => this.graph.elements.has(id));
  }

  #replace(items: Hit[]): unknown {
    this.items = items;
    this.cursor = 0;
    const [first] = this.#alive();
    return first === undefined ? null : this.print(first);
  }

  #value(hit: Hit, key: string): unknown {
    return this.print(hit)?.[key] ?? null;
  }

  /** The reply, or undefined when the call must fail. */
  play(call: Call): unknown {
    switch (call.tool) {
      case 'n_from_type':
      case 'e_from_type': {
        const kind = call.tool === 'n_from_type' ? 'node' : 'edge';
        const known = kind === 'node' ? ['Author', 'Book'] : ['Wrote', 'Contains'];
        if (!known.includes(call.type)) return undefined;
        const all = [...this.graph.elements.values()].filter(({ label }) => label === call.type);
        return this.#replace(all.map(({ id }) => ({ id })));
      }
      case 'out_step':
      case 'in_step':
      case 'out_e_step':
      case 'in_e_step':
        return this.#step(call);
      case 'filter_items':
        return this.#filter(call);
      case 'order_by':
        return this.#order(call);
      case 'search_vector':
        return this.#search(call);
      case 'collect': {
        const { start, end } = call.range ?? { start: 0, end: -1 };
        if (start < 0) return undefined;
        const part = (this.items ?? []).slice(start, end < 0 ? undefined : end);
        const reply = this.#alive(part).map((hit) => this.print(hit));
        if (call.drop) this.#drop();
        return reply;
      }
      case 'group_by':
      case 'aggregate_by':
        return this.#group(call);
      case 'next': {
        const items = this.items ?? [];
        while (this.cursor < items.length) {
          const item = this.print(items[this.cursor++]!);
          if (item !== undefined) return item;
        }
        return null;
      }
      case 'reset':
        this.#drop();
        return 'reset';
      case 'delete':
        return this.graph.remove(call.id);
    }
  }

  #drop(): void {
    this.items = undefined;
    this.cursor = 0;
  }

  #step({ tool, label, kind }: Extract<Call, { label: string }>): unknown {
    const ends = edgeEnds[label];
    if (ends === undefined) return undefined;
    if (this.items === undefined) return null;
    const [near, far] = tool.startsWith('out')
      ? (['from', 'to'] as const)
      : (['to', 'from'] as const);
    const reached = this.#alive().flatMap(({ id }) => {
      const element = this.graph.elements.get(id)!;
      const edges = this.graph.edges(id, label, near);
      if (!tool.endsWith('_e_step')) return edges.map((edge) => edge[far]!);
      if (element.kind !== 'edge') return edges.map((edge) => edge.id);
      return element.label === label ? [element[far]!] : [];
    });
    const wanted = kind === undefined ? undefined : kind === 'node' ? 'node' : 'vector';
    const kept = reached.filter((id) => !wanted || this.graph.elements.get(id)!.kind === wanted);
    return this.#replace(kept.map((id) => ({ id })));
  }

  #filter({ key, operator, value }: Extract<Call, { tool: 'filter_items' }>): unknown {
    if (!properties.includes(key)) return undefined;
    const values = Array.isArray(value) ? value : [value];
    const isNumber = ['born', 'year', 'score'].includes(key);
    const isId = ['id', 'from_node', 'to_node'].includes(key);
    const wrong = (one: unknown) =>
      one !== null && (isId || (typeof one === 'number') !== isNumber);
    if (values.some(wrong)) return undefined;
    if (this.items === undefined) return null;
    const relates = (a: unknown, b: unknown): boolean => {
      if (b === null) return false;
      if (operator === '==' || operator === '!=') return a === b;
      const way = (a as number) < (b as number) ? -1 : a === b ? 0 : 1;
      return way === 0 ? operator.endsWith('=') : way === order[operator];
    };
    const passes = (hit: Hit): boolean => {
      const own = this.#value(hit, key);
      if (own === null) return false;
      const some = [own].flat().some((a) => values.some((b) => relates(a, b)));
      return operator === '!=' ? !some : some;
    };
    return this.#replace(this.#alive().filter(passes));
  }

  #order({ key, order }: Extract<Call, { tool: 'order_by' }>): unknown {
    if (!properties.includes(key) || key === 'tags' || !/^(asc|desc)$/i.test(order))
      return undefined;
    if (this.items === undefined) return null;
    const way = order.toLowerCase() === 'asc' ? 1 : -1;
    const compare = (x: Hit, y: Hit): number => {
      const [a, b] = [this.#value(x, key), this.#value(y, key)];
      if (a === null || b === null) return Number(a === null) - Number(b === null);
      return way * ((a as number) < (b as number) ? -1 : a === b ? 0 : 1);
    };
    return this.#replace(this.#alive().sort(compare));
  }

  #search({ vector, k, scoreMin = 0 }: Extract<Call, { tool: 'search_vector' }>): unknown {
    if (k < 1) return undefined;
    const all = [...this.graph.elements.values()].filter(({ kind }) => kind === 'vector');
    const scope =
      this.items === undefined ? all : this.#alive().map(({ id }) => this.graph.elements.get(id)!);
    const cosine = ([x, y]: [number, number]): number => {
      const norms = Math.hypot(x, y) * Math.hypot(...vector);
      return norms === 0 ? 0 : (x * vector[0] + y * vector[1]) / norms;
    };
    const hits = scope
      .filter((element) => element.vector !== undefined)
      .map((element) => ({ id: element.id, score: cosine(element.vector!) }))
      .filter(({ score }) => score >= scoreMin)
      .sort((a, b) => b.score - a.score || a.id - b.id)
      .slice(0, k);
    this.#replace(hits);
    return hits.map((hit) => this.print(hit));
  }

  #group({ tool, keys, drop }: Extract<Call, { keys: string[] }>): unknown {
    if (keys.length === 0 || new Set(keys).size < keys.length) return undefined;
    if (keys.some((key) => !properties.includes(key))) return undefined;
    const groups = new Map<string, Hit[]>();
    for (const hit of this.#alive()) {
      const key = JSON.stringify(keys.map((name) => this.#value(hit, name)));
      groups.set(key, [...(groups.get(key) ?? []), hit]);
    }
    const reply = [...groups.values()].map((hits) => {
      const data = hits.map((hit) => this.print(hit));
      if (tool === 'aggregate_by') return { count: hits.length, data };
      const named = keys.map((name) => [name, this.#value(hits[0]!, name)]);
      return { ...Object.fromEntries(named), count: hits.length };
    });
    if (drop) this.#drop();
    return reply;
  }
}

function bodyOf(call: Call, C: string): Record<string, unknown> {
  const connection = { connection_id: C };
  switch (call.tool) {
    case 'n_from_type':
      return { ...connection, data: { node_type: call.type } };
    case 'e_from_type':
      return { ...connection, data: { edge_type: call.type } };
    case 'out_step':
    case 'in_step':
      return { ...connection, data: { edge_label: call.label, edge_type: call.kind } };
    case 'out_e_step':
    case 'in_e_step':
      return { ...connection, data: { edge_label: call.label } };
    case 'filter_items': {
      const { key, operator, value } = call;
      return { ...connection, data: { filter: { properties: [[{ key, operator, value }]] } } };
    }
    case 'order_by':
      return { ...connection, data: { properties: call.key, order: call.order } };
    case 'search_vector':
      return { ...connection, data: { vector: call.vector, k: call.k, min_score: call.scoreMin } };
    case 'collect':
      return { ...connection, range: call.range, drop: call.drop };
    case 'group_by':
    case 'aggregate_by':
      return { ...connection, properties: call.keys, drop: call.drop };
    default:
      return connection;
  }
}

const from = <T>(...values: T[]) => fc.constantFrom(...values);
const tool = <T extends Call['tool']>(...tools: T[]) => fc.constantFrom(...tools);
const label = from('Wrote', 'Contains', 'Wrote', 'Contains', 'Nope');
const key = from(...properties, 'nope');
const value = fc.oneof(
  from<unknown>(1815, 1900, 1999, 0, 0.5, null, 'author', 'Notes', 'math', 'Cy', 'x'),
  fc.array(from<unknown>(1843, 1990, 2001, null, 'nature', 'Ada', 'editor'), { maxLength: 3 }),
);
const component = from(-1, 0, 1, 3, 4);
const call: fc.Arbitrary<Call> = fc.oneof(
  {
    arbitrary: fc.record({ tool: tool('n_from_type'), type: from('Author', 'Book', 'Athor') }),
    weight: 3,
  },
  fc.record({ tool: tool('e_from_type'), type: from('Wrote', 'Contains', 'Author') }),
  {
    arbitrary: fc.record({
      tool: tool('out_step', 'in_step'),
      label,
      kind: from(undefined, undefined, 'node', 'VEC'),
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ tool: tool('out_e_step', 'in_e_step'), label }), weight: 3 },
  {
    arbitrary: fc.record({
      tool: tool('filter_items'),
      key,
      operator: from('==', '!=', '<', '<=', '>', '>='),
      value,
    }),
    weight: 3,
  },
  fc.record({ tool: tool('order_by'), key, order: from('asc', 'desc', 'DESC', 'up') }),
  fc.record({
    tool: tool('search_vector'),
    vector: fc.tuple(component, component),
    k: from(0, 1, 2, 5),
    scoreMin: from(undefined, -1, 0.5),
  }),
  fc.record({
    tool: tool('collect'),
    range: fc.option(fc.record({ start: from(0, 1, 2, 9, -1), end: from(-1, 0, 1, 3, 99) }), {
      nil: undefined,
    }),
    drop: from(false, false, false, true),
  }),
  fc.record({
    tool: tool('group_by', 'aggregate_by'),
    keys: fc.array(key, { maxLength: 2 }),
    drop: from(false, false, true),
  }),
  { arbitrary: fc.record({ tool: tool('next') }), weight: 6 },
  fc.record({ tool: tool('reset') }),
  fc.record({ tool: tool('delete'), id: fc.integer({ min: 1, max: 16 }) }),
);

/** Scores are compared within rounding. */
function rounded(reply: unknown): unknown {
  return JSON.parse(
    JSON.stringify(reply, (_, value) =>
      typeof value === 'number' ? Number(value.toFixed(9)) + 0 : value,
    ),
  );
}

async function compare(calls: readonly { session: number; call: Call }[]): Promise<void> {
  await nextTurn();
  const bench = new Bench();
  const graph = new Graph();
  const sessions = [
    { C: await bench.open(), model: new Model(graph) },
    { C: await bench.open(), model: new Model(graph) },
  ];
  const done: string[] = [];
  for (const { session, call } of calls) {
    const { C, model } = sessions[session]!;
    done.push(`${session} ${JSON.stringify(call)}`);
    if (call.tool === 'delete') {
      if (graph.elements.has(call.id)) bench.database.remove(call.id);
      model.play(call);
      continue;
    }
    const wanted = model.play(call);
    const answer = await bench.post(call.tool, bodyOf(call, C));
    if (wanted === undefined) expect('code' in answer, done.join('\n')).toBe(true);
    else if (wanted === 'reset') expect(answer).toEqual({ ok: C });
    else expect(rounded(answer), done.join('\n')).toEqual(rounded({ ok: wanted }));
  }
}

describe('sessions against the model', () => {
  test('every reply is the same', async () => {
    const step = fc.record({ session: from(0, 0, 0, 1), call });
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), compare), {
      numRuns: process.env.TRELLIS_TEST_LONG === '1' ? 20_000 : 300,
    });
  });
});
