// Estimates the number of rows that each step of a pipeline yields, from the counters of types and
// edges and from constants for conditions. The estimates are only shown; no decision depends on
// them.
import type { TypeRef } from '../base/schema.js';
import { stepsLeft } from './access-path.js';
import type { AccessPath, Expression, Pipeline, Source, Step } from './expression.js';

export interface Statistics {
  /** Returns the number of elements of a type, or undefined for an unknown type. */
  count(type: TypeRef): number | undefined;
  /** Returns the endpoint types of an edge type, or undefined for an unknown type. */
  ends(edge: string): { from: TypeRef; to: TypeRef } | undefined;
}

/** Assumed fraction of a type that a condition keeps. */
const equalPart = 0.01;
const boundPart = 1 / 3;
const conditionPart = 1 / 4;

/** Assumed length of a list that only the call knows. */
const listLength = 10;

/** Returns one estimate for the source and one for each step that the access path leaves. */
export function estimateRows(pipeline: Pipeline, statistics: Statistics): number[] {
  let rows = sourceRows(pipeline.source, statistics);
  const estimates = [rows];
  for (const step of stepsLeft(pipeline)) {
    rows = stepRows(rows, step, statistics);
    estimates.push(rows);
  }
  return estimates.map((number) => (number > 0 && number < 1 ? 1 : Math.round(number)));
}

/**
 * Returns the number of rows that would be read without the access path of a source; undefined if
 * it has none.
 */
export function rowsWithout(source: Source, statistics: Statistics): number | undefined {
  if (source.kind !== 'scan' || source.access === undefined) return undefined;
  return source.types.reduce((sum, type) => sum + (statistics.count(type) ?? 0), 0);
}

function sourceRows(source: Source, statistics: Statistics): number {
  const total = (types: readonly TypeRef[]) =>
    types.reduce((sum, type) => sum + (statistics.count(type) ?? 0), 0);
  switch (source.kind) {
    case 'scan': {
      const all = total(source.types);
      return source.access ? pathRows(source.access.path, all, statistics) : all;
    }
    case 'byId':
      return 1;
    case 'lookup':
      return source.first ? 1 : Math.ceil(total([source.type]) * equalPart);
    case 'searchVector':
    case 'searchText':
    case 'searchAnyVector':
      return readNumber(source.k) ?? listLength;
    case 'batch':
      return listLength;
    case 'items':
      return source.end < 0 ? listLength : source.end - source.start;
    case 'set':
    case 'fuse':
      return combinedRows(source, statistics);
    default:
      return listRows(source.of, statistics);
  }
}

function listRows(of: Expression, statistics: Statistics): number {
  if (of.kind === 'pipeline') return estimateRows(of, statistics).at(-1)!;
  return of.kind === 'slot' || of.kind === 'parameter' ? 1 : listLength;
}

function combinedRows(
  source: Extract<Source, { kind: 'set' | 'fuse' }>,
  statistics: Statistics,
): number {
  const rows = source.of.map((each) => listRows(each, statistics));
  if (source.kind === 'fuse' || source.operation === 'union')
    return rows.reduce((sum, each) => sum + each, 0);
  return source.operation === 'except' ? rows[0]! : Math.min(...rows);
}

function pathRows(path: AccessPath, all: number, statistics: Statistics): number {
  switch (path.kind) {
    case 'id':
      return path.list ? Math.min(listLength, all) : Math.min(1, all);
    case 'equal': {
      const each = path.unique ? Math.min(1, all) : Math.ceil(all * equalPart);
      return Math.min(all, path.list ? each * listLength : each);
    }
    case 'incident':
      return degree(path.edge, path.direction, statistics) * (path.list ? listLength : 1);
    case 'reverse': {
      const fan = path.back.reduce(
        (rows, { direction, edges }) => {
          const directions = direction === 'both' ? (['out', 'in'] as const) : [direction];
          const fans = edges.flatMap((edge) =>
            directions.map((side) => degree(edge, side, statistics)),
          );
          return rows * fans.reduce((sum, each) => sum + each, 0);
        },
        listRows(path.value, statistics),
      );
      return Math.min(all, fan);
    }
    case 'conditional':
      return path.of ? pathRows(path.of, all, statistics) : 1;
    case 'shortest':
      return Math.min(...path.of.map((each) => pathRows(each, all, statistics)));
    case 'each':
      return path.of.reduce(
        (sum, each) => sum + pathRows(each.path, statistics.count(each.type) ?? 0, statistics),
        0,
      );
    case 'any': {
      const rows = path.of.reduce((sum, each) => sum + pathRows(each, all, statistics), 0);
      return Math.min(all, rows);
    }
    default: {
      const bounds = Number(path.low !== undefined) + Number(path.high !== undefined);
      return Math.ceil(all * boundPart ** bounds);
    }
  }
}

/** Returns the average number of edges of a type per element at the near end. */
function degree(edge: string, direction: 'out' | 'in', statistics: Statistics): number {
  const ends = statistics.ends(edge);
  const near = ends && statistics.count(direction === 'out' ? ends.from : ends.to);
  return near ? (statistics.count({ kind: 'edge', name: edge }) ?? 0) / near : 0;
}

function stepRows(rows: number, step: Step, statistics: Statistics): number {
  switch (step.kind) {
    case 'neighbours':
    case 'edges':
      return step.edges.reduce(
        (sum, edge) => sum + rows * degree(edge, step.direction, statistics),
        0,
      );
    case 'expand':
      return walkRows(rows, step, statistics);
    case 'where':
      return rows * estimateFraction(step.condition.value);
    case 'first':
      return Math.min(rows, 1);
    case 'count':
    case 'page':
    case 'upsertNode':
    case 'upsertVector':
      return 1;
    case 'range': {
      const end = step.end === null ? undefined : readNumber(step.end);
      const start = readNumber(step.start) ?? 0;
      return Math.max(
        0,
        Math.min(rows, end ?? (step.end === null ? rows : start + listLength)) - start,
      );
    }
    case 'searchWithin':
      return Math.min(rows, readNumber(step.k) ?? listLength);
    case 'group':
      return Math.ceil(Math.sqrt(rows));
    default:
      return rows;
  }
}

/** Assumed number of rounds of a repetition without a known bound. */
const roundsLikely = 4;

function walkRows(
  rows: number,
  { direction, edges, condition, hops }: Extract<Step, { kind: 'expand' }>,
  statistics: Statistics,
): number {
  const directions = direction === 'both' ? (['out', 'in'] as const) : [direction];
  const degrees = edges.flatMap((edge) => directions.map((side) => degree(edge, side, statistics)));
  const fan = degrees.reduce((sum, each) => sum + each, 0) * (condition ? conditionPart : 1);
  if (hops === undefined) return rows * fan;
  const ends = edges.flatMap((edge) => Object.values(statistics.ends(edge) ?? {}));
  const all = new Map(ends.map((type) => [type.name, statistics.count(type) ?? 0]));
  const reachable = [...all.values()].reduce((sum, each) => sum + each, 0);
  const last = Math.min(hops.max ? (readNumber(hops.max) ?? roundsLikely) : roundsLikely, 64);
  let total = 0;
  for (let round = hops.min; round <= last; round++) total += Math.min(reachable, fan ** round);
  return rows * Math.min(reachable, total);
}

function estimateFraction(condition: Expression): number {
  switch (condition.kind) {
    case 'and':
      return condition.of.reduce((part, each) => part * estimateFraction(each), 1);
    case 'or':
      return Math.min(
        1,
        condition.of.reduce((part, each) => part + estimateFraction(each), 0),
      );
    case 'semiJoin':
      return estimateFraction(condition.of);
    case 'not':
      return 1 - estimateFraction(condition.of);
    case 'compare':
      if (condition.operator === 'EQ') return 10 * equalPart;
      return condition.operator === 'NEQ' ? 1 - 10 * equalPart : boundPart;
    default:
      return conditionPart;
  }
}

function readNumber(expression: Expression): number | undefined {
  if (expression.kind !== 'literal') return undefined;
  const { value } = expression;
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}
