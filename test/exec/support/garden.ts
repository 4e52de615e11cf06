// The garden: schema and data of helixql.md 2.9 and section 10, in a memory view, and a bench to
// run plans on it.
import { parseDate } from '../../../engine/base/date.js';
import { TrellisError } from '../../../engine/base/errors.js';
import { defaultLimits, type Limits } from '../../../engine/base/limits.js';
import type { Default, Property, ScalarName, Schema } from '../../../engine/base/schema.js';
import { type Scalar, type ScalarList, Uuid } from '../../../engine/base/value.js';
import type { Argument, ExecutionContext, ItemList } from '../../../engine/exec/runtime/execute.js';
import { execute } from '../../../engine/exec/run.js';
import type { Expression } from '../../../engine/plan/expression.js';
import type { Output, Plan, Statement } from '../../../engine/plan/plan.js';
import type { WriteView } from '../../../engine/storage/table/view-types.js';
import type { TextIndex } from '../../../engine/text/text-index-types.js';
import { createTextIndex } from '../../../engine/text/text-index.js';
import { MemoryIndex } from '../../support/memory-index.js';
import { MemoryView, memoryCatalog, memoryUuid } from '../../support/memory-view.js';

interface Extra {
  index?: Property['index'];
  default?: Default;
  list?: boolean;
}

function property(name: string, type: ScalarName, extra: Extra = {}): Property {
  const scalar = { kind: 'scalar', name: type } as const;
  return {
    name,
    type: extra.list ? { kind: 'list', of: scalar } : scalar,
    index: extra.index ?? 'none',
    ...(extra.default && { default: extra.default }),
  };
}

const now: Default = { kind: 'now' };
const literal = (value: Scalar): Default => ({ kind: 'literal', value });
const node = (name: string) => ({ kind: 'node', name }) as const;
const vector = (name: string) => ({ kind: 'vector', name }) as const;

export const gardenSchema: Schema = {
  version: 1,
  nodes: [
    {
      ...node('Gardener'),
      properties: [
        property('email', 'String', { index: 'unique' }),
        property('city', 'String', { index: 'index' }),
        property('name', 'String'),
        property('level', 'U8', { default: literal(1) }),
        property('joined', 'Date', { default: now }),
      ],
    },
    {
      ...node('Plant'),
      properties: [
        property('species', 'String', { index: 'index' }),
        property('name', 'String'),
        property('height', 'F64'),
        property('tags', 'String', { list: true }),
        property('stock', 'I32', { default: literal(0) }),
        property('serial', 'U64'),
      ],
    },
    {
      ...node('Bed'),
      properties: [property('code', 'String'), property('guess', 'F64', { default: literal(0) })],
    },
  ],
  vectors: [
    {
      ...vector('Note'),
      properties: [
        property('text', 'String'),
        property('lang', 'String', { default: literal('en') }),
      ],
    },
    { ...vector('Photo'), properties: [] },
  ],
  edges: [
    {
      kind: 'edge',
      name: 'Grows',
      from: node('Gardener'),
      to: node('Plant'),
      unique: false,
      properties: [property('since', 'Date', { default: now }), property('rating', 'U8')],
    },
    edgeType('Follows', node('Gardener'), node('Gardener'), true),
    edgeType('PlantedIn', node('Plant'), node('Bed')),
    edgeType('Tells', node('Plant'), vector('Note')),
    edgeType('Cites', vector('Note'), vector('Note')),
    {
      ...edgeType('Lane', node('Bed'), node('Bed')),
      properties: [
        property('metres', 'F64'),
        property('muddy', 'Boolean', { default: literal(false) }),
      ],
    },
  ],
};

function edgeType(
  name: string,
  from: Schema['edges'][0]['from'],
  to: Schema['edges'][0]['to'],
  unique = false,
): Schema['edges'][0] {
  return { kind: 'edge', name, from, to, unique, properties: [] };
}

const joined = parseDate('2026-03-01T08:00:00Z')!;

/** Names of the elements in order of creation: `g1` is the first id, and so on. */
const creations: [
  alias: string,
  type: string,
  values: Record<string, Scalar | ScalarList>,
  ...ends: unknown[],
][] = [
  ['g1', 'Gardener', { email: 'ana@x.org', city: 'Porto', name: 'Ana', level: 3, joined }],
  ['g2', 'Gardener', { email: 'bo@x.org', city: 'Lund', name: 'Bo', level: 1, joined }],
  ['g3', 'Gardener', { email: 'cy@x.org', city: 'Porto', name: 'Cy', level: 2, joined }],
  ['p1', 'Plant', { species: 'polypod', name: 'Fern', height: 0.4, tags: ['shade'], stock: 3 }],
  ['p2', 'Plant', { species: 'rosa', name: 'Rose', height: 1.1, tags: ['sun', 'scent'], stock: 0 }],
  ['p3', 'Plant', { species: 'salvia', name: 'Sage', height: 0.6, tags: [], stock: 7 }],
  ['r1', 'Grows', { since: joined, rating: 5 }, 'g1', 'p1'],
  ['r2', 'Grows', { since: joined, rating: 2 }, 'g1', 'p2'],
  ['r3', 'Grows', { since: joined, rating: 4 }, 'g2', 'p2'],
  ['f1', 'Follows', {}, 'g1', 'g2'],
  ['f2', 'Follows', {}, 'g3', 'g2'],
  ['n1', 'Note', { text: 'Ferns like shade', lang: 'en' }, [1, 0]],
  ['n2', 'Note', { text: 'Roses need sun', lang: 'en' }, [0.6, 0.8]],
  ['n3', 'Note', { text: 'Sage wants dry soil', lang: 'en' }, [0, 1]],
  ['t1', 'Tells', {}, 'p1', 'n1'],
  ['t2', 'Tells', {}, 'p2', 'n2'],
  ['t3', 'Tells', {}, 'p3', 'n3'],
  ['k1', 'Cites', {}, 'n2', 'n1'],
  ['b1', 'Bed', { code: 'A', guess: 3 }],
  ['b2', 'Bed', { code: 'B', guess: 2 }],
  ['b3', 'Bed', { code: 'C', guess: 0 }],
  ['l1', 'Lane', { metres: 2, muddy: false }, 'b1', 'b2'],
  ['l2', 'Lane', { metres: 2, muddy: false }, 'b2', 'b3'],
  ['l3', 'Lane', { metres: 9, muddy: false }, 'b1', 'b3'],
  ['i1', 'PlantedIn', {}, 'p1', 'b1'],
];

const aliases = new Map(creations.map(([alias], i) => [alias, i + 1]));

/** Dense id of a garden element by its name in the specification. */
export function denseId(alias: string): number {
  return aliases.get(alias)!;
}

export function uuid(alias: string): Uuid {
  return new Uuid(memoryUuid(denseId(alias)));
}

/** The text with every garden id replaced by its short name, to compare by eye. */
export function named(text: string): string {
  return text.replace(/00000000-0000-7000-8000-(\d{12})/g, (_, digits: string) => {
    return creations[Number(digits) - 1]?.[0] ?? `#${Number(digits)}`;
  });
}

/** Creates the garden through a view; the dense id of every element by its name. */
export function fillGarden(view: WriteView, text: TextIndex): Map<string, number> {
  const ids = new Map<string, number>();
  for (const [alias, type, values, ...rest] of creations) {
    const label = view.catalog.labels().find((each) => each.name === type)!;
    const map = new Map(Object.entries(values));
    if (label.kind === 'edge') {
      const [from, to] = rest as [string, string];
      ids.set(alias, view.createEdge(label, ids.get(from)!, ids.get(to)!, map));
      continue;
    }
    const id =
      label.kind === 'vector'
        ? view.createVector(label, Float64Array.from(rest[0] as number[]), map)
        : view.createNode(label, map);
    ids.set(alias, id);
    const texts = label.properties.flatMap(({ name, type: { kind } }) => {
      const value = map.get(name);
      return kind === 'list' ? (value as string[]) : typeof value === 'string' ? [value] : [];
    });
    text.add(view, label.id, id, texts);
  }
  return ids;
}

export class Garden {
  view: MemoryView;
  readonly text = createTextIndex(defaultLimits);
  readonly indexes = new Map<number, MemoryIndex>();
  limits: Limits = defaultLimits;
  now = parseDate('2026-03-02T09:30:00.123456Z')!;
  embeddings = new Map<string, Float64Array>();

  constructor(schema: Schema = gardenSchema, filled = true) {
    this.view = new MemoryView(memoryCatalog(schema));
    if (filled) fillGarden(this.view, this.text);
    this.commit();
  }

  /** Moves pending vectors into the indexes, as the lane does after a commit. */
  commit(): void {
    for (const change of this.view.pending.splice(0)) {
      const name = this.view.catalog.label(change.label).name;
      let index = this.indexes.get(change.label);
      if (index === undefined) this.indexes.set(change.label, (index = new MemoryIndex(name)));
      if (change.kind === 'put') index.put(change.id, change.vector);
      else index.delete(change.id);
    }
  }

  context(view: MemoryView, items?: ItemList): ExecutionContext {
    return {
      view,
      vectors: (label) => this.indexes.get(label),
      text: this.text,
      now: this.now,
      limits: this.limits,
      cancelled: () => false,
      budgetMs: 1000,
      embeddings: this.embeddings,
      ...(items && { items }),
    };
  }

  /** Runs a plan as one transaction and answers its body; a failing one changes nothing. */
  run(plan: Plan, args: readonly Argument[] = []): string {
    const view = this.view.clone();
    const { body } = execute(plan, args, this.context(view));
    this.view = view;
    this.commit();
    return named(Buffer.from(body).toString());
  }
}

let nextName = 0;

/** A plan of statements and an output. */
export function plan(output: Output, statements: Statement[] = [], more: Partial<Plan> = {}): Plan {
  return {
    name: `plan${nextName++}`,
    parameters: [],
    slotCount: 16,
    statements,
    output,
    writes: true,
    cost: 'A',
    embeds: [],
    compat: false,
    ...more,
  };
}

/** What a plan with one bare value answers; an error as code and arguments. */
export function outcome(garden: Garden, value: Expression): string {
  try {
    return garden.run(plan({ kind: 'bare', value, data: false }));
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return `${error.code} ${JSON.stringify(error.data.args)}`;
  }
}
