// Deduplicates schemas in a large OpenAPI document: parameters and records of queries are mostly equal. A
// name is derived from its schema, so that another query changes no name.
// Invariant: replacing every reference by its schema gives the original document.
import { hash } from 'node:crypto';
import type { JsonSchema } from './json-schema.js';

/** Prefix of the names of shared schemas. No type of a project can have such a name. */
const prefix = 'shape-';
/** A shorter schema costs less than a reference to it. */
const charsMin = 120;

export class SharedShapes {
  /** Shared schemas that are referenced. */
  readonly named = new Map<string, JsonSchema>();
  readonly #seen = new Set<string>();
  readonly #repeated = new Set<string>();
  /** Texts of the counted schemas. The text of a schema includes those of its parts. */
  readonly #texts = new Map<JsonSchema, string>();
  /** References by the text of their schema. */
  readonly #references = new Map<string, JsonSchema>();

  constructor(private readonly refs: string) {}

  /** Counts a schema and its parts. Call it for every schema before printing the first one. */
  count(schema: JsonSchema): void {
    const known = this.#texts.get(schema);
    // A repeated schema: its parts were counted with the first one.
    if (known !== undefined) return void this.#repeated.add(known);
    const text = sharableText(schema);
    if (text !== undefined) {
      this.#texts.set(schema, text);
      if (this.#seen.has(text)) return void this.#repeated.add(text);
      this.#seen.add(text);
    }
    eachPart(schema, this.#count);
  }

  readonly #count = (part: JsonSchema): void => this.count(part);

  withReferences(schema: JsonSchema): JsonSchema {
    const text = this.#texts.get(schema) ?? sharableText(schema);
    if (text === undefined || !this.#repeated.has(text))
      return overParts(schema, this.#replaceRepeated);
    const known = this.#references.get(text);
    if (known !== undefined) return known;
    const name = `${prefix}${hash('sha256', text, 'hex').slice(0, 12)}`;
    const reference = { $ref: `${this.refs}${name}` };
    this.#references.set(text, reference);
    this.named.set(name, overParts(schema, this.#replaceRepeated));
    return reference;
  }

  readonly #replaceRepeated = (part: JsonSchema): JsonSchema => this.withReferences(part);
}

/** Returns the text of a schema that may be shared, otherwise undefined. */
function sharableText(schema: JsonSchema): string | undefined {
  if (schema.properties === undefined) return undefined;
  const text = JSON.stringify(schema);
  return text.length < charsMin ? undefined : text;
}

const lists: ReadonlySet<string> = new Set(['anyOf', 'oneOf']);
const schemas: ReadonlySet<string> = new Set(['items', 'additionalProperties']);

type Parts = Record<string, JsonSchema>;

/** Calls `visit` with the direct parts of a schema. */
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

/** Returns the schema with changed parts, or the same object if no part changes. */
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
