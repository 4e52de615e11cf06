// The interface of storage for the upper layers: a read view of one LMDB snapshot, and the write view of the
// writer thread's transaction. Inside, dense ids name elements: u32, one space for nodes, edges and vectors,
// ascending with creation, never reused. Outside, UUIDs name them. Id 0 is never assigned and means "none".
import type { ElementKind, ElementType, Property } from '../../base/schema.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import type { DerivedStore, DeferredTask } from './deferred-work.js';

/** A declared property as stored. */
export interface StoredProperty extends Property {
  /** Position of its fragment in records of this label. Never changes. */
  slot: number;
  /** Id of its index, 0 without one. Never changes. */
  indexId: number;
}

/** A declared type as stored: plain data that can be sent to other threads. */
export interface Label {
  /** Id, 1 to 65535, unique over all kinds. Never changes. */
  id: number;
  kind: ElementKind;
  name: string;
  type: ElementType;
  /** In declaration order. */
  properties: StoredProperty[];
  /** Edge types: label ids of the endpoints. */
  from?: number;
  to?: number;
}

export interface Catalog {
  label(id: number): Label;
  /** Returns the label of a declared type, or undefined. */
  find(kind: ElementKind, name: string): Label | undefined;
  labels(): readonly Label[];
}

export type Direction = 'out' | 'in';

/** Property values before encoding, by name; null or absent means unset. */
export type PropertyValues = ReadonlyMap<string, Scalar | ScalarList>;

/** A window of a list of ids. */
export interface IdWindow {
  skip: number;
  max: number;
}

/**
 * Reads of one consistent snapshot. Byte arrays are private copies unless a method says otherwise. The functions
 * of record.ts decode a record.
 */
export interface ReadView {
  readonly catalog: Catalog;
  /** Returns the dense id of a uuid (16 bytes); 0 if there is no such element. */
  idOf(uuid: Uint8Array): number;
  /** Returns the record, or undefined if the element does not exist. Fails DATA_CORRUPT on a bad CRC. */
  record(id: number): Uint8Array | undefined;
  /** Like `record`, but the bytes are valid only until the next call of any method. */
  recordShared(id: number): Uint8Array | undefined;
  /** Further reads of a committed state. Undefined in a write transaction. */
  readonly committed?: CommittedReads | undefined;
  /**
   * Yields the ids of all elements of a label, ascending, without the first `skip`, in arrays of up to a few
   * thousand.
   */
  scan(label: number, skip?: number): Iterable<Uint32Array>;
  /** Number of elements of a label. */
  count(label: number): number;
  /**
   * Returns the edges of one element under one edge label, oldest first: [edge, far, edge, far, ...]. Empty
   * if there are none.
   */
  adjacency(id: number, edgeLabel: number, direction: Direction): Uint32Array;
  /** Returns up to `max` of these edges that are newer than the edge `after` (0: from the oldest). */
  adjacencyAfter(
    id: number,
    edgeLabel: number,
    direction: Direction,
    window: { after: number; max: number },
  ): Uint32Array;
  degree(id: number, edgeLabel: number, direction: Direction): number;
  /**
   * Returns the ids whose indexed property equals the value, ascending. The value must have the property's
   * type.
   */
  lookup(property: StoredProperty, value: Scalar | ScalarList): Uint32Array;
  /** Like `lookup`, in batches with a small first one, for callers that may stop early. */
  lookupBatches(
    property: StoredProperty,
    value: Scalar | ScalarList,
    window?: IdWindow,
  ): Iterable<Uint32Array>;
  /**
   * Yields ids in index order within bounds, either of which may be absent; for range scans on indexed
   * properties. `descending`: highest values first, equal ones still by ascending id. The first `skip` ids
   * are left out.
   */
  range(
    property: StoredProperty,
    bounds: IndexBounds,
    descending?: boolean,
    skip?: number,
  ): Iterable<Uint32Array>;
  /** Returns the embedding as it was given, or undefined. */
  vector(id: number): Float64Array | undefined;
  /** Like `vector`, in a buffer that the next call overwrites. */
  vectorShared(id: number): Float64Array | undefined;
  /** Returns the dimension of a vector label; 0 before its first committed vector. */
  dimension(label: number): number;
  /** Does the deferred work of the transaction. Call it before you read derived data. */
  flushDeferred?(): void;
  /** Reads derived data of other folders (keyword postings). */
  getDerived(key: Uint8Array): Uint8Array | undefined;
  /** Yields the entries from `start` (inclusive) to `end` (exclusive), ascending. */
  scanDerived(start: Uint8Array, end: Uint8Array): Iterable<{ key: Uint8Array; value: Uint8Array }>;
}

/** Reads that a view has only while nothing uncommitted shows through it. */
export interface CommittedReads {
  /** Returns the commit number of the view. */
  commits(): number;
  /** Returns the record cache, for an execution that reads many records. Call it once per execution. */
  recordCache(): RecordCacheView;
  /** Returns the edge cache, for an execution that traverses many edges. Call it once per execution. */
  edgeCache(): EdgeCacheView;
  /** Yields the ids of all elements with a uuid of `from` or above, in order of uuid. */
  byUuid(from: Uint8Array): Iterable<Uint32Array>;
  /** Returns the id from which uuids ascend with ids; infinity if that is unknown. */
  risenFrom(): number;
}

/** The record cache at one commit. */
export interface RecordCacheView {
  /** Returns a record, which must not be modified, or undefined if there is no such element. */
  get(id: number): Uint8Array | undefined;
  /** Returns the start of a record in `bytes`; -1 if the record is available only through `get`. */
  find(id: number): number;
  /** The bytes that the last result of `find` points into. */
  readonly bytes: Uint8Array;
}

/** The edge cache at one commit. */
export interface EdgeCacheView {
  of(label: number, direction: Direction): CachedLists;
}

/** The lists of one label in one direction. */
export interface CachedLists {
  /**
   * Returns the position in `words` of the length of an element's list, in words. The list follows: [edge,
   * far, …], oldest first. 0 if the list is available only through `get`.
   */
  find(id: number): number;
  /** Like `find`, but returns 0 for a list that was not read before. */
  known(id: number): number;
  /** Returns a list, which must not be modified. */
  get(id: number): Uint32Array;
  /** The words that the last result of `find` points into. */
  readonly words: Uint32Array;
}

export interface IndexBounds {
  low?: { value: Scalar; inclusive: boolean };
  high?: { value: Scalar; inclusive: boolean };
}

/** A change of a vector index that becomes visible after the commit. */
export type VectorChange =
  | { kind: 'put'; label: number; id: number; vector: Float64Array }
  | { kind: 'delete'; label: number; id: number };

/**
 * Elements to remove together: records, uuids, label lists, indexes, adjacency. The edges of a node or vector
 * must be among them or already removed (see `incident`).
 */
export interface ElementRemoval {
  /**
   * Adds an element, which must not be added twice, and reads it. Returns its label, or undefined if there is
   * no such element. Nothing is written yet. Fails TXN_TOO_LARGE.
   */
  add(id: number): Label | undefined;
  /** Removes the added elements. Fails TXN_TOO_LARGE before the first change. */
  apply(): void;
}

/**
 * The write transaction of one request within the durable transaction of its group. Reads see its own writes.
 * If the request fails, exactly its writes are undone (undo log); the other requests of the group stay. The
 * caller must first check uniqueness, existence and the types of endpoints, unless a method says otherwise.
 */
export interface WriteView extends ReadView, DerivedStore {
  /**
   * Creates a node: uuid map, record, label list, indexes. Fails UNIQUE_VIOLATION if a unique value is taken.
   */
  createNode(label: Label, values: PropertyValues): number;
  /**
   * Returns what an edge stores of an endpoint, or undefined if there is no such element. `named`: the uuid
   * that led to the id, and the label that it should have; saves reading the record.
   */
  endOf(
    id: number,
    named?: { label: number; uuid: Uint8Array },
  ): { label: number; uuid: Uint8Array } | undefined;
  /**
   * Creates an edge and both its adjacency entries. Fails UNIQUE_VIOLATION for a second edge of a UNIQUE
   * type.
   */
  createEdge(label: Label, from: number, to: number, values: PropertyValues): number;
  /**
   * Creates a vector and its entry in the vector log. Fails VECTOR_DIMENSION if its dimension is not that of
   * the label.
   */
  createVector(label: Label, vector: Float64Array, values: PropertyValues): number;
  /**
   * Replaces the properties of several elements. Removes all old index entries first, so unique values may be
   * exchanged. Fails UNIQUE_VIOLATION if two elements end with one value.
   */
  update(changes: readonly { id: number; values: PropertyValues }[]): void;
  /** Replaces an embedding. */
  replaceVector(id: number, vector: Float64Array): void;
  /** Starts the removal of many elements. Calls `tick` with numbers of processed elements. */
  removal(tick: (count: number) => void): ElementRemoval;
  /** Like `removal`, for elements that exist. */
  removeAll(ids: Uint32Array, tick: (count: number) => void): void;
  /** Removes one element. */
  remove(id: number): void;
  /** Returns the ids of all edges of a node or vector, in both directions, each once, ascending. */
  incident(id: number): Uint32Array;
  /** Returns the number of edge ends at an element, without reading the edges. A loop counts twice. */
  incidentCount(id: number, label?: number): number;
  /** Vector changes of this request so far. Searches must include them. */
  readonly pending: readonly VectorChange[];
  /**
   * Vector changes of earlier requests of the same group. They are committed together and not yet in an
   * index.
   */
  readonly unpublished: readonly VectorChange[];
  /** Returns the deferred task, created if needed; undefined if the work must be done now. */
  defer?<T extends DeferredTask>(make: () => T): T | undefined;
}
