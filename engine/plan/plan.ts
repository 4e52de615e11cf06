// The Plan: the interface between the code that makes traversals (compiler, sessions, embedded
// callers) and the executor that runs them. Plain data that can be printed, compared, and cloned to
// another thread.
import type { ParameterDefault, ParameterType } from '../base/schema.js';
import type { Expression, Pipeline, Step } from './expression.js';
import type { Form } from './print-form.js';
import type { Merge } from './scatter-merge.js';
import type { ReplyType } from './output-type.js';

export interface Parameter {
  name: string;
  type: ParameterType;
  optional: boolean;
  /** The parameter is a list of F64 that the query uses as a vector; decoding checks it as one. */
  vector: boolean;
  /** Value of a parameter that is absent or null. Inside the query the parameter is never null. */
  default?: ParameterDefault;
}

/** Values to compute for each item when it is bound. */
export type Keep = NonNullable<Extract<Step, { kind: 'group' }>['keep']>;

export type Statement =
  | { kind: 'bind'; slot: number; value: Expression; keep?: Keep }
  /** Evaluates the value for its effect. */
  | { kind: 'effect'; value: Expression }
  /** Deletes every element that the expression yields. */
  | { kind: 'drop'; value: Expression }
  /** One entry in `slots` binds the item; several destructure it by `members` (same length). */
  | {
      kind: 'for';
      slots: number[];
      members?: string[];
      in: Expression;
      keep?: Keep;
      body: Statement[];
    };

/**
 * An inspection request of a dashboard. `id`: the 16 bytes of an element id. `count`: maximum
 * number of elements of a kind.
 */
export type InspectionRequest =
  | { kind: 'node'; id: Uint8Array }
  | { kind: 'nodes'; type: string; count: number }
  | { kind: 'connections'; id: Uint8Array }
  /** Nodes and the edges between them; `title` is the property that names a node. */
  | { kind: 'graph'; count: number; title: string | null }
  | ExplorerRequest;

/** Position of an edge in a neighborhood: the next page begins after it. */
export interface EdgeCursor {
  direction: 'out' | 'in';
  label: string;
  edge: Uint8Array;
}

/** A request of the explorer pages: elements in their printed form, in bounded pages. */
export type ExplorerRequest =
  | {
      kind: 'neighbours';
      id: Uint8Array;
      direction: 'out' | 'in' | 'both';
      label: string | null;
      count: number;
      after: EdgeCursor | null;
    }
  /** Elements of one type, in the order of their ids. */
  | { kind: 'elements'; type: string; count: number; after: Uint8Array | null }
  /** Elements found by id, by the prefix of an indexed text, or by words. */
  | { kind: 'search'; text: string; types: string[] | null; count: number }
  /** These elements and the edges between them; with `ids: null`, some elements of every type. */
  | { kind: 'subgraph'; ids: Uint8Array[] | null; count: number }
  /** The shortest path between two elements, along edges of every type in either direction. */
  | { kind: 'path'; from: Uint8Array; to: Uint8Array }
  /** Some vectors of one type, including `ids`, and their neighbors. */
  | {
      kind: 'map';
      type: string;
      samples: number;
      neighbours: number;
      seed: number;
      ids: Uint8Array[];
    }
  /** The numbers of one vector. */
  | { kind: 'vector'; id: Uint8Array };

export type Output =
  /** One JSON object with these members, in order. */
  | { kind: 'object'; members: { key: string; value: Expression; form?: Form }[] }
  /** The value itself ([compat], sessions). `data`: whole elements include their embedding. */
  | { kind: 'bare'; value: Expression; data: boolean; form?: Form }
  /**
   * A session's new traversal: the item list is stored, and the reply is the first item or all
   * items.
   */
  | { kind: 'items'; value: Pipeline; answer: 'first' | 'all'; data: boolean }
  /** An inspection request of a dashboard. */
  | { kind: 'inspection'; request: InspectionRequest };

/**
 * A text to embed before the transaction; `loops` are the FOR statements around it, outermost
 * first.
 */
export interface EmbedSite {
  loops: { slots: number[]; members?: string[]; in: Expression }[];
  text: Expression;
  /** Vector type that determines the model, if known. */
  type?: string;
  /** The vector is searched for, not stored. */
  isQuery?: true;
}

/**
 * A: microseconds (by id, one small hop); B: batched reads; C: wide traversals and large searches;
 * W: writes.
 */
export type CostClass = 'A' | 'B' | 'C' | 'W';

export interface Plan {
  name: string;
  parameters: Parameter[];
  slotCount: number;
  statements: Statement[];
  output: Output;
  writes: boolean;
  cost: CostClass;
  embeds: EmbedSite[];
  /** Argument of `#[model("…")]`. */
  model?: string;
  /** The reply is `{result, profile}`, with the rows and time of every step. */
  profile?: true;
  /** `compat = "helix-2"`: elements print as HelixDB 2 prints them. */
  compat: boolean;
  /** Sessions under [compat]: floats print with a fraction, `5.0`. */
  fractions?: true;
}

/** How a query on a sharded vector type runs. */
export interface Scatter {
  type: string;
  /** The plan that each shard runs. */
  plan: Plan;
  merge: Merge;
}

/** One compiled query with its metadata. */
export interface Query {
  name: string;
  plan: Plan;
  /** Keys of the reply, in order. */
  returns: string[];
  /** Type of the reply. */
  output: ReplyType;
  /** The comment above the query, without its slashes. */
  doc: string;
  /** Source text of the query. */
  written: string;
  /** Path of the source file. */
  file: string;
  /** True if the query is marked `#[mcp]`. */
  mcp: boolean;
  /** For a query on a sharded type: how shards run it. */
  scatter?: Scatter;
  /**
   * True if the only returned value is whole elements, so that a session may take it as its
   * traversal.
   */
  elements: boolean;
}
