// The Plan: the narrow waist between those who make traversals (compiler, sessions, embedded
// callers) and the one executor that runs them. Plain data: it can be printed, cloned to another
// thread and compared.
import type { GivenDefault, ParameterType } from '../base/schema.js';
import type { Expression, Pipeline, Step } from './expression.js';
import type { Form } from './print-form.js';
import type { Merge } from './scatter-merge.js';
import type { ReplyType } from './output-type.js';

export interface Parameter {
  name: string;
  type: ParameterType;
  optional: boolean;
  /** A list of F64 that is used as a vector somewhere: checked as one while decoding. */
  vector: boolean;
  /** The value of a parameter that is absent or null; inside the query it is never null. */
  default?: GivenDefault;
}

/** Values to compute for every item when it is bound. */
export type Keep = NonNullable<Extract<Step, { kind: 'group' }>['keep']>;

export type Statement =
  | { kind: 'bind'; slot: number; value: Expression; keep?: Keep }
  /** Evaluated for its effect. */
  | { kind: 'effect'; value: Expression }
  /** Deletes every element the expression yields. */
  | { kind: 'drop'; value: Expression }
  /** `slots` with one entry binds the item; `members` (same length) destructures it. */
  | {
      kind: 'for';
      slots: number[];
      members?: string[];
      in: Expression;
      keep?: Keep;
      body: Statement[];
    };

/** What a dashboard asks to see. `id`: the 16 bytes of one. `count`: elements of a kind, at most. */
export type InspectionRequest =
  | { kind: 'node'; id: Uint8Array }
  | { kind: 'nodes'; type: string; count: number }
  | { kind: 'connections'; id: Uint8Array }
  /** Nodes with the edges among them; `title`: the property that names a node. */
  | { kind: 'graph'; count: number; title: string | null }
  | ExplorerRequest;

/** An edge in a neighbourhood: where the next page of it begins. */
export interface EdgePlace {
  direction: 'out' | 'in';
  label: string;
  edge: Uint8Array;
}

/** What our own pages ask to see: elements as they are printed in answers, in bounded pages. */
export type ExplorerRequest =
  | {
      kind: 'neighbours';
      id: Uint8Array;
      direction: 'out' | 'in' | 'both';
      label: string | null;
      count: number;
      after: EdgePlace | null;
    }
  /** Of one type, in the order of their ids. */
  | { kind: 'elements'; type: string; count: number; after: Uint8Array | null }
  /** By id, by the beginning of an indexed text, by words. */
  | { kind: 'search'; text: string; types: string[] | null; count: number }
  /** These elements, or with none named some of every type, and the edges among them. */
  | { kind: 'among'; ids: Uint8Array[] | null; count: number }
  /** The shortest way between two, along edges of every type in either direction. */
  | { kind: 'path'; from: Uint8Array; to: Uint8Array }
  /** Some vectors of one type, `ids` among them, and their neighbours. */
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
  /** A session's new traversal: item list kept, and the first item (or all items) answered. */
  | { kind: 'items'; value: Pipeline; answer: 'first' | 'all'; data: boolean }
  /** What a dashboard asks to see. */
  | { kind: 'look'; look: InspectionRequest };

/**
 * A text to embed before the transaction; `loops` are the FOR statements around it, outermost
 * first.
 */
export interface EmbedSite {
  loops: { slots: number[]; members?: string[]; in: Expression }[];
  text: Expression;
  /** Vector type that decides the model, if known. */
  type?: string;
}

/**
 * A: microseconds (by id, one small hop); B: batched reads; C: wide traversals and big searches; W:
 * writes.
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
  /** `#[model("…")]`. */
  model?: string;
  /** Answers `{result, profile}`: rows and time of every step beside the reply. */
  profile?: true;
  /** `compat = "helix-2"`: elements print as HelixDB 2 prints them. */
  compat: boolean;
  /** Of a session under [compat]: floats print with a fraction, `5.0`. */
  fractions?: true;
}

/** How a query about a vector type that is divided over several databases is answered. */
export interface Scatter {
  type: string;
  /** What a shard runs in the query's place. */
  plan: Plan;
  merge: Merge;
}

/** One compiled query with what callers may ask of it besides running it. */
export interface Query {
  name: string;
  plan: Plan;
  /** Keys of the reply, in order. */
  returns: string[];
  /** The type of the reply. */
  output: ReplyType;
  /** The comment above the query, without its slashes. */
  doc: string;
  /** The query as it stands in its source. */
  written: string;
  /** The path of that source. */
  file: string;
  /** Marked `#[mcp]`. */
  mcp: boolean;
  /** Of a query about a scattered type: how it is answered by shards. */
  scatter?: Scatter;
  /** Whether the only returned value is whole elements (so that a session may adopt it). */
  elements: boolean;
}
