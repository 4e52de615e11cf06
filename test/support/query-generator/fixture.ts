// The one schema of the sentences, and a graph of it with all that is odd: loops, parallel edges,
// elements without values, ties.
import { parseDate } from '../../../engine/base/date.js';
import { Uuid } from '../../../engine/base/value.js';
import { compile } from '../../../engine/lang/compile.js';
import { OracleGraph, typeNamed } from '../oracle/oracle-graph.js';
import type { OracleElement, Value } from '../oracle/oracle-value.js';
import { Random } from '../random.js';
import { LoneEngine } from '../server/lone-engine.js';
import type { ScalarName } from './type.js';

export const sentenceSchema = `
N::Ant {
  UNIQUE INDEX key: String, INDEX name: String, INDEX num: I32,
  ratio: F64, INDEX day: Date, flag: Boolean
}
N::Bee { UNIQUE INDEX key: String, name: String, num: I32, extra: I64, flag: Boolean }
V::Cue { INDEX name: String, INDEX num: I32, day: Date }
E::Knows { From: Ant, To: Ant, Properties: { INDEX w: I32, day: Date, flag: Boolean } }
E::Holds { From: Ant, To: Bee, Properties: { w: I32 } }
E::Tells { From: Bee, To: Cue }
E::Cites { From: Cue, To: Cue, Properties: { w: I32 } }
E::Back { From: Bee, To: Ant, Properties: { w: I32 } }
E::Bears UNIQUE { From: Ant, To: Bee, Properties: { UNIQUE INDEX tag: I32, w: I32 } }
`;

interface Label {
  kind: 'node' | 'edge' | 'vector';
  properties: Readonly<Record<string, ScalarName>>;
  from?: string;
  to?: string;
}

export const labels: Readonly<Record<string, Label>> = {
  Ant: {
    kind: 'node',
    properties: {
      key: 'text',
      name: 'text',
      num: 'int',
      ratio: 'float',
      day: 'date',
      flag: 'bool',
    },
  },
  Bee: {
    kind: 'node',
    properties: { key: 'text', name: 'text', num: 'int', extra: 'int', flag: 'bool' },
  },
  Cue: { kind: 'vector', properties: { name: 'text', num: 'int', day: 'date' } },
  Knows: {
    kind: 'edge',
    properties: { w: 'int', day: 'date', flag: 'bool' },
    from: 'Ant',
    to: 'Ant',
  },
  Holds: { kind: 'edge', properties: { w: 'int' }, from: 'Ant', to: 'Bee' },
  Tells: { kind: 'edge', properties: {}, from: 'Bee', to: 'Cue' },
  Cites: { kind: 'edge', properties: { w: 'int' }, from: 'Cue', to: 'Cue' },
  Back: { kind: 'edge', properties: { w: 'int' }, from: 'Bee', to: 'Ant' },
  Bears: { kind: 'edge', properties: { tag: 'int', w: 'int' }, from: 'Ant', to: 'Bee' },
};

export const letter = (label: string): string => labels[label]!.kind[0]!.toUpperCase();

/** Properties of items that may be of several types. */
export function propertiesOf(of: readonly string[]): Map<string, ScalarName> {
  return new Map(of.flatMap((label) => Object.entries(labels[label]!.properties)));
}

const texts = ['fern', 'rose', 'Fern', 'sun', '', 'r\u{1f600}e'];
const days = [
  '2026-03-01T08:00:00Z',
  '2024-02-29',
  '1969-12-31T23:59:59.5Z',
  '2026-03-31T23:30:00Z',
];
const counts = {
  Ant: 9,
  Bee: 5,
  Cue: 5,
  Knows: 16,
  Holds: 9,
  Tells: 7,
  Cites: 7,
  Back: 5,
  Bears: 3,
};
const vectors = ['[1.0, 0.0]', '[0.0, 1.0]', '[3.0, 4.0]', '[-1.0, 0.5]', '[0.6, 0.8]'];

export const now = parseDate('2026-03-02T09:30:00.123456Z')!;

/** Text of a value as it is written in a query. */
export function printed(kind: ScalarName, random: Random): string {
  switch (kind) {
    case 'int':
      return String(random.pick([-2, 0, 1, 2, 3, 3, 7]));
    case 'float':
      return random.pick(['-1.5', '0.5', '2.0', '2.5']);
    case 'text':
      return JSON.stringify(random.pick(texts));
    case 'bool':
      return random.pick(['true', 'false']);
    case 'date':
      return JSON.stringify(random.pick(days));
    case 'id':
      throw new RangeError('an id is a parameter');
  }
}

/** The value that such a text stands for. */
export function read(kind: ScalarName, text: string): Value {
  const value = JSON.parse(text) as string | number | boolean;
  if (kind === 'date') return parseDate(value as string)!;
  return kind === 'id' ? new Uuid(value as string) : value;
}

export class SentenceWorld {
  readonly graph: OracleGraph;
  readonly engine: LoneEngine;

  constructor(seed: number) {
    const random = new Random(seed);
    const { program, diagnostics } = compile(
      [{ path: 'schema.hx', text: `${sentenceSchema}\nQUERY q() => RETURN 1` }],
      { compat: false },
    );
    if (program === undefined) throw new RangeError(JSON.stringify(diagnostics));
    this.graph = new OracleGraph(program.schema);
    this.engine = new LoneEngine(program, now);
    this.#fill(random, seed);
  }

  #fill(random: Random, seed: number): void {
    const made: Record<string, { name: string; element: OracleElement }[]> = {};
    const lines: string[] = [];
    // Every fourth world is large enough for paths that small ones are not worth.
    const scale = seed % 4 === 0 ? 3 : 1;
    for (const [label, count] of Object.entries(counts)) {
      made[label] = [];
      for (let i = 0; i < count * scale; i++) {
        const { kind, properties, from, to } = labels[label]!;
        const given = Object.entries(properties).flatMap(([name, of]) => {
          if (name === 'tag') return [{ name, of, text: String(i + 20) }];
          if (name === 'key') return [{ name, of, text: `"${label[0]!.toLowerCase()}${i}"` }];
          return random.chance(0.2) ? [] : [{ name, of, text: printed(of, random) }];
        });
        const set = `{${given.map(({ name, text }) => `${name}: ${text}`).join(', ')}}`;
        const values = new Map(given.map(({ name, of, text }) => [name, read(of, text)]));
        const name = `${label.toLowerCase()}${i}`;
        const vector = random.pick(vectors);
        const ends = from ? [random.pick(made[from]!), random.pick(made[to!]!)] : [];
        // At most one edge of this type between two elements.
        if (label === 'Bears') ends[0] = made.Ant![i]!;
        const element = this.graph.create(typeNamed(this.graph, kind, label), values, {
          ...(kind === 'vector' && { vector: JSON.parse(vector) as number[] }),
          ...(from && { from: ends[0]!.element, to: ends[1]!.element }),
        });
        made[label].push({ name, element });
        if (kind === 'node') lines.push(`${name} <- AddN<${label}>(${set})`);
        else if (kind === 'vector') lines.push(`${name} <- AddV<${label}>(${vector}, ${set})`);
        else
          lines.push(
            `${name} <- AddE<${label}>(${set})::From(${ends[0]!.name})::To(${ends[1]!.name})`,
          );
      }
    }
    this.graph.dimensions.set('Cue', 2);
    const text = `${sentenceSchema}\nQUERY load() =>\n${lines.join('\n')}\nRETURN "done"`;
    const { program, diagnostics } = compile([{ path: 'load.hx', text }], { compat: false });
    if (program === undefined) throw new RangeError(JSON.stringify(diagnostics));
    const [result] = this.engine.write([{ plan: program.queries[0]!.plan, args: [] }]);
    if ('error' in result!) throw result.error;
    for (const [label, of] of Object.entries(made)) {
      const uuids = this.engine.uuids(labels[label]!.kind, label);
      for (const [i, { element }] of of.entries()) element.uuid = uuids[i]!;
    }
  }

  /** Gives new elements of the graph the ids that the engine gave them; those by what they were called. */
  learn(): Map<string, string> {
    const learned = new Map<string, string>();
    for (const [label, { kind }] of Object.entries(labels)) {
      const own = this.graph.all(typeNamed(this.graph, kind, label));
      if (own.every(({ uuid }) => !uuid.startsWith('ffffffff-'))) continue;
      const theirs = this.engine.uuids(kind, label);
      for (const [i, element] of own.entries()) {
        if (!element.uuid.startsWith('ffffffff-') || theirs[i] === undefined) continue;
        learned.set(element.uuid, theirs[i]);
        element.uuid = theirs[i];
      }
    }
    return learned;
  }

  close(): void {
    this.engine.close();
  }
}
