// Random schemas, what becomes of them from version to version, and the plain data that a migration
// turns into plain data: the oracle of the migration test. Deliberately naive.
import { similarity } from '../../engine/exec/runtime/similarity.js';
import type { Metric } from '../../engine/vector/index.js';

export type Kind = 'node' | 'vector' | 'edge';
type Value = number | string;

export interface Property {
  name: string;
  type: 'I64' | 'F64' | 'String';
  index: '' | 'INDEX ' | 'UNIQUE INDEX ';
}

export interface Type {
  kind: Kind;
  name: string;
  properties: Property[];
  from?: string;
  to?: string;
  unique?: boolean;
  /** Numbers of an embedding, fixed by the first one. */
  length?: number;
}

export interface Element {
  kind: Kind;
  type: string;
  values: Record<string, Value>;
  vector?: number[];
  from?: string;
  to?: string;
}

const letters = { node: 'N', vector: 'V', edge: 'E' } as const;
export const words = ['heron', 'stork', 'crane', 'ibis'];
const metrics: Metric[] = ['cosine', 'l2', 'dot'];

/** Of a vector type, by its name: a renamed type has other options. */
export const metricOf = (name: string): Metric => metrics[Number(name.slice(1)) % 3]!;
/** Embeddings are two or three numbers long, as their first owner has it. */
const dimensionOf = (name: string): number => (Number(name.slice(1)) % 9 === 3 ? 3 : 2);

export class World {
  version = 1;
  types: Type[] = [];
  /** As they were when they were last declared. */
  hidden: Type[] = [];
  elements = new Map<string, Element>();
  /** Declarations of earlier versions and the ways between them, as far as the sources know them. */
  history = '';
  last = 0;

  constructor(
    readonly chance: () => number,
    kinds: readonly Kind[] = ['node', 'node', 'node', 'vector', 'vector', 'vector'],
  ) {
    for (const kind of kinds) this.types.push(this.#newType(kind));
    for (let i = 0; i < kinds.length / 2; i++) this.types.push(this.#newEdge());
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.chance() * list.length)]!;
  }

  #name(letter: string): string {
    return `${letter}${++this.last}`;
  }

  #newProperty(kind: Kind): Property {
    const type = this.pick(['I64', 'F64', 'String', 'String'] as const);
    const isUnique = type === 'I64' && kind !== 'edge' && this.chance() < 0.4;
    const index = isUnique ? 'UNIQUE INDEX ' : this.chance() < 0.4 ? 'INDEX ' : '';
    return { name: this.#name('p'), type, index: kind === 'edge' ? '' : index };
  }

  #newType(kind: Kind): Type {
    const properties = [this.#newProperty(kind), this.#newProperty(kind)];
    return { kind, name: this.#name('T'), properties };
  }

  #newEdge(): Type {
    const from = this.pick(this.types.filter(({ kind }) => kind === 'node')).name;
    const to = this.pick(this.types.filter(({ kind }) => kind !== 'edge')).name;
    return { ...this.#newType('edge'), from, to, unique: this.chance() < 0.2 };
  }

  of(name: string): [string, Element][] {
    return [...this.elements].filter(([, { type }]) => type === name);
  }

  declaration(type: Type): string {
    const { kind, name, unique } = type;
    const list = type.properties
      .map(({ name: own, type: of, index }) => `${index}${own}: ${of}`)
      .join(', ');
    if (kind !== 'edge') return `${letters[kind]}::${name} { ${list} }`;
    const head = `E::${name}${unique ? ' UNIQUE' : ''}`;
    return `${head} { From: ${type.from}, To: ${type.to}, Properties: { ${list} } }`;
  }

  declarations(): string {
    return `schema::${this.version} {\n${this.types.map((type) => this.declaration(type)).join('\n')}\n}\n`;
  }

  source(): string {
    const queries = this.types.map((type) => queriesOf(type)).join('');
    return `${this.history}${this.declarations()}QUERY ping() => RETURN "pong"\n${queries}`;
  }

  /** A value for a property; those of integers are met once only. */
  value({ type, index }: Property): Value {
    if (type === 'String' && index === 'UNIQUE INDEX ') return `${this.pick(words)} ${++this.last}`;
    if (type === 'String') return `${this.pick(words)} ${this.pick(words)}`;
    return type === 'I64' ? ++this.last : ++this.last + 0.5;
  }

  vectorFor(type: Type): number[] {
    const length = type.length ?? dimensionOf(type.name);
    return Array.from({ length }, () => this.chance() + 0.01);
  }

  get plain() {
    const { types, hidden, elements } = this;
    return { types, hidden, elements };
  }

  copy(): World {
    const { types, hidden, elements } = structuredClone(this.plain);
    return Object.assign(new World(this.chance, []), this, { types, hidden, elements });
  }

  /** An edit of the present version: what it allows changes nothing of any element that is seen. */
  edit(): void {
    const type = this.pick(this.types);
    const dice = this.chance();
    if (dice < 0.3) type.properties.push(this.#newProperty('edge'));
    else if (dice < 0.6 && type.kind !== 'edge') {
      for (const property of type.properties) {
        if (property.index !== 'UNIQUE INDEX ') property.index = this.pick(['', 'INDEX ']);
      }
    } else if (dice < 0.8) this.#hide(type);
    else this.#bringBack();
  }

  #hide(type: Type): void {
    const gone = (each: Type) => each === type || each.from === type.name || each.to === type.name;
    const rest = this.types.filter((each) => !gone(each));
    if (!['node', 'vector', 'edge'].every((kind) => rest.some((each) => each.kind === kind)))
      return;
    this.hidden.push(...this.types.filter(gone));
    this.types = rest;
  }

  #bringBack(): void {
    const isDeclared = (name?: string) =>
      name === undefined || this.types.some((each) => each.name === name);
    const type = this.hidden.find(({ from, to }) => isDeclared(from) && isDeclared(to));
    if (type === undefined) return;
    this.hidden = this.hidden.filter((each) => each !== type);
    this.types.push(type);
  }

  /** One version further; says what of it must be refused. */
  migrate(): void {
    this.history += this.declarations();
    const before = [...this.types];
    const mappings: string[] = [];
    const names = new Map<string, string>();
    const moves: [from: Type, rules: Map<string, Rule>, to: Type][] = [];
    if (this.chance() < 0.3) this.#hide(this.pick(this.types));
    if (this.chance() < 0.3) this.#bringBack();
    const next: Type[] = [];
    const swapped = new Map<string, string>();
    if (this.chance() < 0.25) {
      const kind = this.pick(['node', 'vector'] as const);
      const [a, b] = this.types.filter((type) => type.kind === kind && before.includes(type));
      if (a && b) swapped.set(a.name, b.name).set(b.name, a.name);
    }
    const isNew = (type: Type): boolean => !before.includes(type);
    const kept = this.types.filter(
      (type) => isNew(type) || (!swapped.has(type.name) && this.chance() < 0.45),
    );
    for (const kind of ['node', 'vector', 'edge'] as const) {
      for (const type of this.types.filter((each) => each.kind === kind)) {
        const [from, to] = [type.from, type.to].map((end) => end && (names.get(end) ?? end));
        const ends = kind === 'edge' ? { from: from!, to: to! } : {};
        if (kept.includes(type)) {
          next.push({ ...type, ...ends });
          continue;
        }
        const target = this.pick(
          kept.filter(
            (each) =>
              each.kind === kind &&
              (names.get(each.from!) ?? each.from) === from &&
              (names.get(each.to!) ?? each.to) === to,
          ),
        );
        if (target !== undefined && !swapped.has(type.name) && this.chance() < 0.8) {
          moves.push([type, sameRules(type, target), target]);
          names.set(type.name, target.name);
          mappings.push(`${letters[kind]}::${type.name} => ${letters[kind]}::${target.name} {}`);
          continue;
        }
        const { properties, rules } = this.#rewritten(type);
        const fresh = this.chance() < 0.6 ? this.#name('T') : type.name;
        const name = swapped.get(type.name) ?? fresh;
        const result = { ...type, ...ends, name, properties };
        next.push(result);
        moves.push([type, rules, result]);
        names.set(type.name, name);
        const list = [...rules].flatMap(([own, { text }]) => (text ? [`${own}: ${text}`] : []));
        const body = kind === 'edge' ? `Properties: { ${list.join(', ')} }` : list.join(', ');
        const arrow = name === type.name ? '_::' : `${letters[kind]}::${name}`;
        mappings.push(`${letters[kind]}::${type.name} => ${arrow} { ${body} }`);
      }
    }
    for (const type of this.hidden) {
      type.from = type.from && (names.get(type.from) ?? type.from);
      type.to = type.to && (names.get(type.to) ?? type.to);
    }
    // All at once: a type may take the name that another gives up.
    const moved = moves.map(([type]) => this.of(type.name));
    for (const [i, [, rules, target]] of moves.entries()) {
      for (const [, element] of moved[i]!) {
        rewrite(element, rules, target);
        const result = next.find(({ name, kind }) => name === target.name && kind === target.kind)!;
        if (element.vector) result.length = element.vector.length;
      }
    }
    this.types = next;
    this.history += `MIGRATION schema::${this.version} => schema::${this.version + 1} {\n${mappings.join('\n')}\n}\n`;
    this.version++;
  }

  #rewritten(type: Type): { properties: Property[]; rules: Map<string, Rule> } {
    const properties: Property[] = [];
    const rules = new Map<string, Rule>();
    for (const old of type.properties) {
      const dice = this.chance();
      if (dice < 0.2) continue;
      const property = { ...old, name: dice < 0.4 ? old.name : this.#name('p') };
      const toText = dice > 0.7 && old.type !== 'String';
      if (toText) property.type = 'String';
      if (property.index !== 'UNIQUE INDEX ' && type.kind !== 'edge') {
        property.index = this.pick(['', 'INDEX ']);
      }
      properties.push(property);
      const text = property.name === old.name ? '' : `${old.name}${toText ? ' AS String' : ''}`;
      const from = ({ values }: Element) => {
        const value = values[old.name];
        return value !== undefined && toText ? String(value) : value;
      };
      rules.set(property.name, { text, from });
    }
    const own: Property = { name: this.#name('p'), type: 'String', index: '' };
    properties.push(own);
    rules.set(own.name, { text: '"new heron"', from: () => 'new heron' });
    return { properties, rules };
  }

  /** Whether what is there now may be: one length per vector type, one edge between two ends. */
  get isSound(): boolean {
    return [...this.types, ...this.hidden].every(({ name, kind, unique }) => {
      const all = this.of(name).map(([, element]) => element);
      const lengths = new Set(all.map(({ vector }) => vector?.length));
      const pairs = new Set(all.map(({ from, to }) => `${from} ${to}`));
      return kind === 'vector' ? lengths.size <= 1 : !unique || pairs.size === all.length;
    });
  }

  /** Ids of a vector type, nearest first. */
  nearest(name: string, query: number[]): string[] {
    const score = (vector: number[]) =>
      similarity(metricOf(name), Float64Array.from(query), Float64Array.from(vector)).score;
    return this.of(name)
      .map(([id, { vector }]) => ({ id, score: score(vector!) }))
      .sort((a, b) => b.score - a.score)
      .map(({ id }) => id);
  }
}

interface Rule {
  /** Empty: copied because it has the same name and type. */
  text: string;
  from: (element: Element) => Value | undefined;
}

function sameRules(type: Type, target: Type): Map<string, Rule> {
  const rules = new Map<string, Rule>();
  for (const { name, type: of } of target.properties) {
    if (!type.properties.some((own) => own.name === name && own.type === of)) continue;
    rules.set(name, { text: '', from: ({ values }) => values[name] });
  }
  return rules;
}

function rewrite(element: Element, rules: Map<string, Rule>, { name }: Type): void {
  const values: Element['values'] = {};
  for (const [own, { from }] of rules) {
    const value = from(element);
    if (value !== undefined) values[own] = value;
  }
  element.type = name;
  element.values = values;
}

function queriesOf({ kind, name, properties, from }: Type): string {
  const letter = letters[kind];
  const list = properties.map((each) => `${each.name}: ${each.type}`).join(', ');
  const values = `{ ${properties.map((each) => `${each.name}: ${each.name}`).join(', ')} }`;
  const lines = [
    `scan${name}() => x <- ${letter}<${name}> RETURN x`,
    `count${name}() => x <- ${letter}<${name}>::COUNT RETURN x`,
    `drop${name}(id: ID) => DROP ${letter}<${name}>(id) RETURN NONE`,
  ];
  for (const { name: own, type, index } of properties) {
    if (kind === 'edge') continue;
    lines.push(
      `set${name}${own}(id: ID, v: ${type}) => x <- ${letter}<${name}>(id)::UPDATE({ ${own}: v }) RETURN NONE`,
    );
    if (index !== '')
      lines.push(
        `by${name}${own}(v: ${type}) => x <- ${letter}<${name}>::WHERE(_::{${own}}::EQ(v))::ID RETURN x`,
      );
  }
  if (kind !== 'edge')
    lines.push(`words${name}(w: String) => x <- SearchBM25<${name}>(w, 1000)::ID RETURN x`);
  if (kind === 'node')
    lines.push(`add${name}(${list}) => x <- AddN<${name}>(${values})::ID RETURN x`);
  if (kind === 'vector') {
    lines.push(
      `add${name}(vec: [F64], ${list}) => x <- AddV<${name}>(vec, ${values})::ID RETURN x`,
      `near${name}(vec: [F64]) => x <- SearchV<${name}>(vec, 1000)::ID RETURN x`,
    );
  }
  if (kind === 'edge') {
    lines.push(
      `add${name}(a: ID, b: ID, ${list}) => x <- AddE<${name}>(${values})::From(a)::To(b)::ID RETURN x`,
      `out${name}(id: ID) => x <- N<${from}>(id)::OutE<${name}>::ID RETURN x`,
    );
  }
  return lines
    .map((line) => `QUERY ${line}\n`)
    .join('')
    .replaceAll(', )', ')');
}
