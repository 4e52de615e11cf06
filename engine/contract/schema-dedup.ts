// Shapes that a large OpenAPI document says again and again, said once: parameters and records of queries are
// mostly alike. A name is made of what it stands for, so that another query changes no name. Invariant: with
// every such reference replaced by what it names, the document is the one it was.
import { hash } from 'node:crypto';
import type { JsonSchema } from './json-schema.js';

/** What a shared shape is called begins with this, as no type of a project can be called. */
const prefix = 'shape-';
/** Something shorter costs less than a reference to it. */
const leastChars = 120;

export class SharedShapes {
  /** Those that are referred to. */
  readonly named = new Map<string, JsonSchema>();
  readonly #seen = new Set<string>();
  readonly #repeated = new Set<string>();
  /** Of what was counted: a text of a shape holds those of all its parts. */
  readonly #texts = new Map<JsonSchema, string>();
  /** By the text of what they stand for. */
  readonly #references = new Map<string, JsonSchema>();

  constructor(private readonly refs: string) {}

  /** Of every schema, before the first is said. */
  count(schema: JsonSchema): void {
    const known = this.#texts.get(schema);
    // The same object again, or one like it: what is in it has been counted with the first of its kind.
    if (known !== undefined) return void this.#repeated.add(known);
    const text = textOf(schema);
    if (text !== undefined) {
      this.#texts.set(schema, text);
      if (this.#seen.has(text)) return void this.#repeated.add(text);
      this.#seen.add(text);
    }
    eachPart(schema, this.#count);
  }

  readonly #count = (part: JsonSchema): void => this.count(part);

  say(schema: JsonSchema): JsonSchema {
    const text = this.#texts.get(schema) ?? textOf(schema);
    if (text === undefined || !this.#repeated.has(text)) return overParts(schema, this.#say);
    const known = this.#references.get(text);
    if (known !== undefined) return known;
    const name = `${prefix}${hash('sha256', text, 'hex').slice(0, 12)}`;
    const reference = { $ref: `${this.refs}${name}` };
    this.#references.set(text, reference);
    this.named.set(name, overParts(schema, this.#say));
    return reference;
  }

  readonly #say = (part: JsonSchema): JsonSchema => this.say(part);
}

/** Of what may be shared. */
function textOf(schema: JsonSchema): string | undefined {
  if (schema.properties === undefined) return undefined;
  const text = JSON.stringify(schema);
  return text.length < leastChars ? undefined : text;
}

const lists: ReadonlySet<string> = new Set(['anyOf', 'oneOf']);
const schemas: ReadonlySet<string> = new Set(['items', 'additionalProperties']);

type Parts = Record<string, JsonSchema>;

/** Every schema that one is made of. */
function eachPart(schema: JsonSchema, visit: (part: JsonSchema) => void): void {
  for (const name in schema) {
    const value = schema[name];
    if (typeof value !== 'object') continue;
    if (lists.has(name)) for (const part of value as JsonSchema[]) visit(part);
    else if (schemas.has(name)) visit(value as JsonSchema);
    else if (name === 'properties') {
      for (const key in value as Parts) visit((value as Parts)[key]!);
    }
  }
}

/** The schema with something else in place of each that it is made of; itself when nothing is. */
function overParts(schema: JsonSchema, change: (part: JsonSchema) => JsonSchema): JsonSchema {
  let copy: Record<string, unknown> | undefined;
  for (const name in schema) {
    const value = schema[name];
    if (typeof value !== 'object') continue;
    let changed: unknown = value;
    if (lists.has(name)) changed = overList(value as JsonSchema[], change);
    else if (schemas.has(name)) changed = change(value as JsonSchema);
    else if (name === 'properties') changed = overValues(value as Parts, change);
    if (changed === value) continue;
    copy ??= { ...schema };
    copy[name] = changed;
  }
  return copy ?? schema;
}

function overList(
  parts: readonly JsonSchema[],
  change: (part: JsonSchema) => JsonSchema,
): readonly JsonSchema[] {
  const changed = parts.map(change);
  return changed.every((part, at) => part === parts[at]) ? parts : changed;
}

function overValues(parts: Parts, change: (part: JsonSchema) => JsonSchema): Parts {
  let copy: Parts | undefined;
  for (const name in parts) {
    const part = parts[name]!;
    const changed = change(part);
    if (changed === part) continue;
    copy ??= { ...parts };
    copy[name] = changed;
  }
  return copy ?? parts;
}
