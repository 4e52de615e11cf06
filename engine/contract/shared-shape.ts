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

  constructor(private readonly refs: string) {}

  /** Of every schema, before the first is said. */
  count(schema: JsonSchema): void {
    const text = textOf(schema);
    if (text !== undefined) {
      this.#texts.set(schema, text);
      // What is in it has been counted with the first of its kind.
      if (this.#seen.has(text)) return void this.#repeated.add(text);
      this.#seen.add(text);
    }
    overParts(schema, (part) => this.count(part));
  }

  say(schema: JsonSchema): JsonSchema {
    const text = this.#texts.get(schema) ?? textOf(schema);
    if (text === undefined || !this.#repeated.has(text)) return this.#sayParts(schema);
    const name = `${prefix}${hash('sha256', text, 'hex').slice(0, 12)}`;
    if (!this.named.has(name)) this.named.set(name, this.#sayParts(schema));
    return { $ref: `${this.refs}${name}` };
  }

  readonly #sayParts = (schema: JsonSchema): JsonSchema =>
    overParts(schema, (part) => this.say(part));
}

/** Of what may be shared. */
function textOf(schema: JsonSchema): string | undefined {
  if (schema.properties === undefined) return undefined;
  const text = JSON.stringify(schema);
  return text.length < leastChars ? undefined : text;
}

const lists: ReadonlySet<string> = new Set(['anyOf', 'oneOf']);
const schemas: ReadonlySet<string> = new Set(['items', 'additionalProperties']);

/** The schema with something else in place of each schema that it is made of. */
function overParts<T>(schema: JsonSchema, change: (part: JsonSchema) => T): JsonSchema {
  const entries = Object.entries(schema).map(([name, value]): [string, unknown] => {
    if (lists.has(name)) return [name, (value as JsonSchema[]).map(change)];
    if (typeof value !== 'object') return [name, value];
    if (schemas.has(name)) return [name, change(value as JsonSchema)];
    return [name, name === 'properties' ? overValues(value as JsonSchema, change) : value];
  });
  return Object.fromEntries(entries);
}

const overValues = <T>(parts: JsonSchema, change: (part: JsonSchema) => T): Record<string, T> =>
  Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, change(part as JsonSchema)]),
  );
