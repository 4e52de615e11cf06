// What the layers above see of storage: a read view of one LMDB snapshot, and the write view of the
// writer lane's transaction. Dense ids (u32, one space for nodes, edges and vectors, ascending with
// creation, never used again) name elements inside; UUIDs name them outside. Id 0 is never given
// out and means "none".
import type { ElementKind, ElementType, Property } from '../../base/schema.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import type { DerivedStore, DeferredTask } from './deferred-work.js';

/** A declared property as stored. */
export interface StoredProperty extends Property {
  /** Position of its fragment in records of this label; durable. */
  slot: number;
  /** Durable id of its index, 0 without one. */
  indexId: number;
}

/** A declared type as stored: plain data, so that it can be handed to other threads. */
export interface Label {
  /** Durable id, 1..65535, unique over the kinds. */
  id: number;
  kind: ElementKind;
  name: string;
  type: ElementType;
  /** In declaration order. */
  properties: StoredProperty[];
  /** Edge types: label ids of the ends. */
  from?: number;
  to?: number;
}

export interface Catalog {
  label(id: number): Label;
  /** The label of a declared type; undefined when it is not declared. */
  find(kind: ElementKind, name: string): Label | undefined;
  labels(): readonly Label[];
}

export type Direction = 'out' | 'in';

/** Stored properties before encoding: value per property name, null or absent = unset. */
export type PropertyValues = ReadonlyMap<string, Scalar | ScalarList>;

/**
 * Reads of one consistent snapshot. Byte arrays returned are private copies unless said otherwise.
 * A record is decoded with the functions of record.ts.
 */
/** Those from `skip` on, of which `most` are likely to be enough. */
export interface IdWindow {
  skip: number;
  most: number;
}

export interface ReadView {
  readonly catalog: Catalog;
  /** Dense id of an external id (16 bytes), 0 when there is no such element. */
  idOf(uuid: Uint8Array): number;
  /**
   * The record, or undefined when the element does not exist (any more). Fails DATA_CORRUPT on a
   * bad CRC.
   */
  record(id: number): Uint8Array | undefined;
  /** As `record`, but the bytes are only valid until the next call of any method. */
  recordShared(id: number): Uint8Array | undefined;
  /**
   * Records for an execution that reads many, which later executions share. Ask anew for every
   * execution; undefined while writing.
   */
  recordCache?(): RecordCacheView | undefined;
  /** Likewise lists of edges, for an execution that walks many. */
  edgeCache?(): EdgeCacheView | undefined;
  /** Ids of all elements of a label but the first `skip`, ascending, in arrays of up to some thousand. */
  scan(label: number, skip?: number): Iterable<Uint32Array>;
  /** Number of elements of a label. */
  count(label: number): number;
  /** Ids of the elements of all labels whose uuid is `from` or above, by uuid; undefined while writing. */
  byUuid?(from: Uint8Array): Iterable<Uint32Array> | undefined;
  /**
   * Among elements from this id on, whoever has the greater id has the greater uuid; beyond all ids where
   * that is not known, as while writing.
   */
  risenFrom?(): number;
  /**
   * Edges of one element under one edge label, oldest first: [edge, far, edge, far, ...]. Empty
   * when none.
   */
  adjacency(id: number, edgeLabel: number, direction: Direction): Uint32Array;
  /** Up to `most` of them that are newer than the edge `after` (0: from the oldest on). */
  adjacencyAfter(
    id: number,
    edgeLabel: number,
    direction: Direction,
    window: { after: number; most: number },
  ): Uint32Array;
  degree(id: number, edgeLabel: number, direction: Direction): number;
  /** Ids whose indexed property equals the value (already of the property's type), ascending. */
  lookup(property: StoredProperty, value: Scalar | ScalarList): Uint32Array;
  /**
   * The same in pieces, the first of them small, for whoever may stop early.
   */
  lookupPieces(
    property: StoredProperty,
    value: Scalar | ScalarList,
    window?: IdWindow,
  ): Iterable<Uint32Array>;
  /**
   * Ids in index order within bounds (either may be absent); for range scans on indexed properties.
   * `descending`: greatest values first, equal ones still by ascending id. The first `skip` are left out.
   */
  range(
    property: StoredProperty,
    bounds: IndexBounds,
    descending?: boolean,
    skip?: number,
  ): Iterable<Uint32Array>;
  /** The embedding as given, or undefined. */
  vector(id: number): Float64Array | undefined;
  /** The embedding in a buffer that the next such read takes for its own. */
  vectorShared(id: number): Float64Array | undefined;
  /** Dimension fixed for a vector label, 0 before its first committed vector. */
  dimension(label: number): number;
  /** Names the state of the data that is seen; undefined while writing. */
  commits?(): number | undefined;
  /** Does what waits for the end of the transaction: call before reading derived data. */
  flushDeferred?(): void;
  /** Raw access for derived data kept by other rooms (text postings). */
  getDerived(key: Uint8Array): Uint8Array | undefined;
  /** Keys from `start` (inclusive) to `end` (exclusive), ascending. */
  scanDerived(start: Uint8Array, end: Uint8Array): Iterable<{ key: Uint8Array; value: Uint8Array }>;
}

/** Records of one state of the data, for whoever reads many. */
export interface RecordCacheView {
  /** Not to be written to; undefined when there is no such element. */
  get(id: number): Uint8Array | undefined;
  /** Where a record starts in `bytes`; -1 when only `get` can tell. */
  find(id: number): number;
  /** What the last `find` points into. */
  readonly bytes: Uint8Array;
}

/** Lists of edges of one state of the data, for whoever walks many. */
export interface EdgeCacheView {
  of(label: number, direction: Direction): KeptLists;
}

/** Of one label in one direction. */
export interface KeptLists {
  /**
   * Where the number of words of an element's list stands in `words`, the list behind it: [edge, far,
   * …], oldest first. 0 when only `get` can tell.
   */
  find(id: number): number;
  /** As `find`, when the list was read before; else 0. */
  known(id: number): number;
  /** Not to be written to. */
  get(id: number): Uint32Array;
  /** What the last `find` points into. */
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
 * The write transaction of one request inside the lane's durable transaction. Reads see its own
 * writes. `abort` of the request undoes exactly its writes (undo log), the other requests of the
 * group stay. Uniqueness, existence and type of ends are the caller's to check first, except where
 * said.
 */
export interface WriteView extends ReadView, DerivedStore {
  /**
   * New node: uuid map, record, label list, indexes. UNIQUE_VIOLATION when a unique value is taken.
   */
  createNode(label: Label, values: PropertyValues): number;
  /**
   * What an edge keeps of its ends; undefined when there is no such element. `named`: its uuid, from which
   * the id was found, and the label that it should have; spares reading its record.
   */
  endOf(
    id: number,
    named?: { label: number; uuid: Uint8Array },
  ): { label: number; uuid: Uint8Array } | undefined;
  /** New edge, both adjacencies included. UNIQUE_VIOLATION for a second edge of a UNIQUE type. */
  createEdge(label: Label, from: number, to: number, values: PropertyValues): number;
  /** New vector: VECTOR_DIMENSION when it differs from the label's. Logged in vlog. */
  createVector(label: Label, vector: Float64Array, values: PropertyValues): number;
  /**
   * Replaces the properties of several elements at once: index entries of all are removed before
   * any is added, so that unique values may be exchanged; a value left twice is UNIQUE_VIOLATION.
   */
  update(changes: readonly { id: number; values: PropertyValues }[]): void;
  /** Replaces an embedding. */
  replaceVector(id: number, vector: Float64Array): void;
  /**
   * Removes elements, ascending: records, uuids, label lists, indexes, adjacency. The edges of a node
   * or vector must be among them, or have gone before (see `incident`). Calls `tick` with the elements
   * it goes through.
   */
  removeAll(ids: Uint32Array, tick: (count: number) => void): void;
  /** Removes one. */
  remove(id: number): void;
  /** Ids of all edges of a node or vector, both directions, each once, ascending. */
  incident(id: number): Uint32Array;
  /** How many ends of edges it has, without reading them: one from it to itself has two. */
  incidentCount(id: number, label?: number): number;
  /** Vector changes of this request so far: searches must take them into account. */
  readonly pending: readonly VectorChange[];
  /** Those of earlier requests of the same group: committed with it, in no index yet. */
  readonly unpublished: readonly VectorChange[];
  /** Work for the end of the transaction, made when there is none; undefined: do it now. */
  defer?<T extends DeferredTask>(make: () => T): T | undefined;
}
