// Parts of sentences: text, type and meaning; who writes them, and what may be named in them.
import type { Instant } from '../../../engine/base/value.js';
import type { OracleGraph } from '../oracle/oracle-graph.js';
import type { Value } from '../oracle/oracle-value.js';
import type { Random } from '../random.js';
import type { ElementType, ScalarName, Type } from './type.js';

/** Where a part is computed. */
export interface Env {
  readonly graph: OracleGraph;
  readonly now: Instant;
  readonly params: ReadonlyMap<string, Value>;
  readonly vars: ReadonlyMap<string, Value>;
  /** What `_` is; undefined where nothing binds it. */
  readonly item: Value | undefined;
  /** What is missing is null. */
  readonly lenient?: true;
  /** What is missing is a failure, although an item is bound: a value that is to be stored. */
  readonly strict?: boolean;
}

export interface Part<T extends Type = Type> {
  text: string;
  type: T;
  of(env: Env): Value;
}

export type Elements = Part<ElementType>;

/** One statement: its text without the name that it may bind, and what it does. */
export interface Change {
  text: string;
  /** What it yields, if it may be bound. */
  type?: Type;
  of(env: Env): Value;
}

/** What may be named where a part is written. */
export interface Scope {
  readonly names: readonly { name: string; type: Type }[];
  /** Type of `_`, if it is bound. */
  readonly item?: Type;
  /** Names of the item as it is written: `_`, or that of a closure. */
  readonly itemName?: string;
}

export interface Parameter {
  name: string;
  type: string;
  optional: boolean;
  /** Text of its default. */
  given?: string;
  values: readonly Value[];
  /**
   * The position after which a page begins: absent for the first page. Its value is the number of items
   * before it.
   */
  cursor?: number;
}

/** Who writes parts, each with all others inside. */
export interface Writer {
  readonly random: Random;
  readonly parameters: Parameter[];
  name(prefix: string): string;
  scalar(scope: Scope, kind: ScalarName, depth: number): Part;
  condition(scope: Scope, depth: number): Part;
  elements(scope: Scope, depth: number): Elements;
  /** One element or none. */
  single(scope: Scope, depth: number): Elements;
  answer(scope: Scope, depth: number): Part;
}
