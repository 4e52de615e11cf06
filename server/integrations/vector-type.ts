// The vector type of a framework's store: the declarations that a project needs for it, and the operations of
// every store. The queries are fixed text, with values as parameters. Invariant: each operation is one
// request and one transaction, but for documents that do not fit one request.
import type { Caller } from '../client/client.js';
import { type Condition, conditionOf, type Filter, type PropertyType } from './filter.js';

export interface VectorTypeConfig {
  /**
   * A connection of `trellisdb/client` to a server with `server.ad_hoc_queries`, or the result of `open`.
   */
  caller: Caller;
  /** The vector type that holds the documents. */
  type: string;
  /** Members of metadata that filters can use, with the types of their properties. */
  properties?: Record<string, PropertyType>;
  /** Names of the properties of key, text and metadata. */
  key?: string;
  text?: string;
  metadata?: string;
  /** With `Json`, filters can use every member of metadata. The default is `String`. */
  metadataType?: 'String' | 'Json';
}

export interface Row {
  vector: number[];
  key: string;
  text: string;
  metadata: Record<string, unknown>;
}

class DeclarationMissing extends Error {
  override readonly name = 'DeclarationMissing';
  constructor(declaration: string) {
    super(`The project needs this declaration:\n\n${declaration}\n`);
  }
}

export class VectorType {
  readonly type: string;
  readonly names: { key: string; text: string; metadata: string };
  readonly #caller: Caller;
  readonly #metadataType: 'String' | 'Json';
  readonly #properties: [name: string, type: PropertyType][];
  #checked: Promise<void> | undefined;

  constructor(config: VectorTypeConfig) {
    const { caller, type, properties = {}, key = 'key', text = 'text' } = config;
    // Without TypeScript, a wrong argument is reported here, not by the first call.
    if (typeof caller?.call !== 'function')
      throw new TypeError('`caller` is a connection of trellisdb/client, or an open database');
    this.#caller = caller;
    this.#metadataType = config.metadataType ?? 'String';
    this.type = nameOf(type);
    this.#properties = Object.entries(properties).map(([name, of]) => [nameOf(name), of]);
    const metadata = nameOf(config.metadata ?? 'metadata');
    this.names = { key: nameOf(key), text: nameOf(text), metadata };
  }

  /** Returns the declarations that a project needs for this store. */
  get declaration(): string {
    const { key, text, metadata } = this.names;
    const fields = [`UNIQUE INDEX ${key}: String`, `${text}: String`];
    fields.push(`${metadata}: ${this.#metadataType}`);
    fields.push(...this.#properties.map(([name, type]) => `${name}: ${type}`));
    return `V::${this.type} {\n${fields.map((field) => `    ${field}`).join(',\n')}\n}`;
  }

  /** Fails with the declaration to paste if the type does not fit this store. */
  check(): Promise<void> {
    const { key, text, metadata } = this.names;
    const names = [key, text, metadata, ...this.#properties.map(([name]) => name)];
    const source = `V<${this.type}>::RANGE(0, 0)::{${names.join(', ')}}`;
    this.#checked ??= this.#call(source, {}, false).then(
      () => undefined,
      (error: Error & { code?: string }) => {
        this.#checked = undefined;
        if (error.code !== 'QUERY_INVALID') throw error;
        throw new DeclarationMissing(this.declaration);
      },
    );
    return this.#checked;
  }

  #call<T>(source: string, parameters: object, write: boolean): Promise<T> {
    // All writes of a store are idempotent.
    return this.#caller.call<T>('_query', { source, parameters, write }, { writes: write });
  }

  /** Returns a query from its lines. */
  async run<T>(lines: readonly string[], parameters: object, write = false): Promise<T> {
    await this.check();
    return this.#call<T>(lines.join('\n'), parameters, write);
  }

  condition(filter: Filter): Condition {
    const metadata = this.#metadataType === 'Json' ? this.names.metadata : undefined;
    return conditionOf(filter, new Map(this.#properties), metadata);
  }

  #stored(about: Record<string, unknown>): unknown {
    return this.#metadataType === 'Json' ? about : JSON.stringify(about);
  }

  /**
   * Replaces documents with the same keys. Deletes the documents that match `deleteFilter` first. Documents
   * that fit one request are one transaction. More documents are several requests, each a transaction. An
   * error has the ids of the documents of its request as `documentIds`; earlier requests stay.
   */
  async put(rows: readonly Row[], deleteFilter?: Filter): Promise<void> {
    const parts = partsOf(rows);
    let drop = deleteFilter;
    while (parts.length > 0) {
      const part = parts.shift()!;
      try {
        await this.#putPart(part, drop);
        drop = undefined;
      } catch (error) {
        const { code } = error as { code?: unknown };
        if (!tooLarge.has(code) || part.length < 2) throw withIds(error, part);
        const half = part.length >> 1;
        parts.unshift(part.slice(0, half), part.slice(half));
      }
    }
  }

  async #putPart(rows: readonly Row[], deleteFilter?: Filter): Promise<void> {
    const drop = deleteFilter && this.condition(deleteFilter);
    const { key, text, metadata } = this.names;
    const own = this.#properties.map(([name, type]) => `p_${name}?: ${type}`);
    const about = `metadata: ${this.#metadataType}`;
    const row = ['vector: [F64]', 'key: String', 'text: String', about, ...own];
    const loop = row.map((field) => field.split(/[?:]/)[0]);
    const set = [`${key}: key`, `${text}: text`, `${metadata}: metadata`];
    set.push(...this.#properties.map(([name]) => `${name}: p_${name}`));
    const lines = [
      `QUERY put(rows: [{${row.join(', ')}}], ids: [String]${drop?.declared ?? ''}) =>`,
      ...(drop ? [`DROP V<${this.type}>::WHERE(${drop.text})`] : []),
      `FOR id IN ids { DROP V<${this.type}>({${key}: id}) }`,
      `FOR {${loop.join(', ')}} IN rows { AddV<${this.type}>(vector, {${set.join(', ')}}) }`,
      'RETURN "done"',
    ];
    const rowValues = rows.map(({ metadata: about, ...rest }) => {
      const values = this.#properties.map(([name]) => [`p_${name}`, about[name] ?? null]);
      return { ...rest, metadata: this.#stored(about), ...Object.fromEntries(values) };
    });
    const ids = rows.map(({ key: id }) => id);
    await this.run(lines, { ...drop?.values, rows: rowValues, ids }, true);
  }

  /** Deletes by keys, by a filter, or by both. */
  async drop(ids: readonly string[] = [], filter?: Filter): Promise<void> {
    const drop = filter && this.condition(filter);
    const lines = [
      `QUERY drop(ids: [String]${drop?.declared ?? ''}) =>`,
      `FOR id IN ids { DROP V<${this.type}>({${this.names.key}: id}) }`,
      ...(drop ? [`DROP V<${this.type}>::WHERE(${drop.text})`] : []),
      'RETURN "done"',
    ];
    await this.run(lines, { ...drop?.values, ids }, true);
  }

  /** Replaces metadata. Returns the parameters of the query and the members that they set. */
  replacing(about: Record<string, unknown>): { declared: string; set: string[]; values: object } {
    const present = this.#properties.filter(([name]) => (about[name] ?? null) !== null);
    const declared = present.map(([name, type]) => `, p_${name}: ${type}`).join('');
    const values = Object.fromEntries(present.map(([name]) => [`p_${name}`, about[name]]));
    const own = this.#properties.map(([name]) => {
      return `${name}: ${`p_${name}` in values ? `p_${name}` : 'NONE'}`;
    });
    return {
      declared: `, metadata: ${this.#metadataType}${declared}`,
      set: [`${this.names.metadata}: metadata`, ...own],
      values: { ...values, metadata: this.#stored(about) },
    };
  }
}

/** Bytes of the documents in one request. It is below the smallest usual limit of a proxy or a server. */
const requestBytes = 8 * 1024 * 1024;
/** Bytes of a number of a vector as JSON, with its comma. */
const numberBytes = 22;

/** Estimates the bytes of a row as JSON. A character of its texts has 3 bytes at most, in most scripts. */
function sizeOf({ vector, key, text, metadata }: Row): number {
  const texts = key.length + text.length + JSON.stringify(metadata).length;
  return numberBytes * vector.length + 3 * texts + 100;
}

/** Cuts rows into parts of about `requestBytes`, each with at least one row. */
function partsOf(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [[]];
  let bytes = 0;
  for (const row of rows) {
    const size = sizeOf(row);
    if (bytes + size > requestBytes && parts.at(-1)!.length > 0) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(row);
    bytes += size;
  }
  return parts;
}

/** Errors after which half of the documents may fit. */
const tooLarge: ReadonlySet<unknown> = new Set(['BODY_TOO_LARGE', 'TXN_TOO_LARGE']);

/** Adds the ids of the documents of a failed request to its error. */
function withIds(error: unknown, rows: readonly Row[]): unknown {
  if (!(error instanceof Error) || rows.length === 0) return error;
  const [first, last] = [rows[0]!.key, rows.at(-1)!.key];
  const ids = first === last ? `document ${first}` : `documents ${first} to ${last}`;
  return Object.assign(error, {
    message: `${error.message} (${ids})`,
    documentIds: rows.map(({ key }) => key),
  });
}

/** Returns metadata as a reply has it: a String of JSON, a Json, or null. */
export function readMetadata(value: unknown): Record<string, unknown> {
  return ((typeof value === 'string' ? JSON.parse(value) : value) ?? {}) as Record<string, unknown>;
}

/** Names are inserted into queries unchanged, so they must be valid names. */
export function nameOf(name: string): string {
  if (!/^[A-Za-z]\w*$/.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name.`);
  return name;
}
