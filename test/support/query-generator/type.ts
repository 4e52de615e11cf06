// What a part of a sentence is taken for: kinds, how many, members, and what a stream carries along.
export type ScalarName = 'int' | 'float' | 'text' | 'bool' | 'date' | 'id';
export type Card = 'many' | 'one' | 'opt';

/** Members of a shape: those that are printed, and names bound for later steps. */
export type Members = readonly { name: string; type: Type; hidden?: true }[];

export type Type =
  | { kind: ScalarName; card: Card }
  | { kind: 'record'; card: Card; members: Members }
  | ElementType;

export interface ElementType {
  kind: 'element';
  card: Card;
  labels: readonly string[];
  /** A repetition has left its distances. */
  hops?: true;
  /** A search or a fusion has left its scores. */
  score?: true;
  /** Edges that a step came to: what is at their other ends. */
  reached?: readonly string[];
  shape?: Members;
}
