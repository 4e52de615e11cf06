// Compiles the statements of a plan: bindings, effects, deletions and loops.
import { unreachable } from '../../base/assert.js';
import { TrellisError } from '../../base/errors.js';
import { pointerTo } from '../../json/pointer.js';
import type { Plan, Statement } from '../../plan/plan.js';
import { type Builder, containsObject } from '../runtime/build-context.js';
import { rowsOf } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { drop } from '../change/update-steps.js';
import { rowsOfValue } from '../operators/source.js';
import { buildCapture, type Capture, captured, writes } from './capture.js';

/** One compiled statement. */
export type Act = (frame: Frame) => void;

export function buildStatements(builder: Builder, plan: Plan): Act[] {
  const capture = builder.style.data || losesVectors(plan) ? 'recordsAndVectors' : 'records';
  const later = plan.writes && writes(plan.output);
  return buildBlock(builder, plan.statements, later ? capture : 'nothing', capture);
}

const measures = new Set<unknown>(['rerankMMR', 'searchWithin']);

/**
 * Returns true if a plan reads vectors (with [compat], wherever it prints vectors) and may replace or delete
 * some.
 */
function losesVectors({ statements, output, compat }: Plan): boolean {
  const parts = [statements, output];
  return (
    containsObject(parts, ({ kind }) => kind === 'upsertVector' || kind === 'drop') &&
    (compat ||
      containsObject(
        parts,
        ({ kind, name }) => measures.has(kind) || (kind === 'property' && name === 'data'),
      ))
  );
}

/**
 * `later`: what must be captured because something may be written after this block, or before its next round.
 * `capture`: the same if a statement of the block writes.
 */
function buildBlock(
  builder: Builder,
  statements: readonly Statement[],
  later: Capture,
  capture: Capture,
): Act[] {
  const acts: Act[] = [];
  let after = later;
  for (const statement of statements.toReversed()) {
    acts.push(buildStatement(builder, statement, after, capture));
    if (writes(statement)) after = capture;
  }
  return acts.reverse();
}

/** `after`: what must be captured of the bound value because of the following statements. */
function buildStatement(
  builder: Builder,
  statement: Statement,
  after: Capture,
  capture: Capture,
): Act {
  switch (statement.kind) {
    case 'bind': {
      const { slot } = statement;
      const value = builder.value(statement.value);
      const keep = buildCapture(builder, statement.keep, after);
      if (after === 'nothing' && keep === undefined)
        return (frame) => {
          frame.slots[slot] = value(frame);
        };
      return (frame) => {
        const bound = captured(frame, value(frame), after);
        keep?.(frame, bound);
        frame.slots[slot] = bound;
      };
    }
    case 'effect': {
      const value = builder.value(statement.value);
      return (frame) => {
        value(frame);
      };
    }
    case 'drop': {
      const { value } = statement;
      const flow =
        value.kind === 'pipeline' ? builder.flow(value) : rowsOfValue(builder.value(value));
      return (frame) => {
        drop(frame, flow);
      };
    }
    case 'for':
      return buildFor(builder, statement, after, capture);
    default:
      return unreachable(statement);
  }
}

function buildFor(
  builder: Builder,
  statement: Extract<Statement, { kind: 'for' }>,
  after: Capture,
  capture: Capture,
): Act {
  const { slots, members } = statement;
  const list = builder.value(statement.in);
  // Arguments contain no elements.
  const isPlain = statement.in.kind === 'parameter';
  const parameter =
    statement.in.kind === 'parameter' ? builder.parameters[statement.in.index]?.name : undefined;
  const inside = writes(statement.body) ? capture : after;
  const body = buildBlock(builder, statement.body, inside, capture);
  const readers = members?.map((name) => builder.member(name));
  const keep = buildCapture(builder, statement.keep, inside);
  return (frame) => {
    const items = isPlain ? list(frame) : captured(frame, list(frame), inside);
    keep?.(frame, items);
    let index = 0;
    try {
      for (const item of rowsOf(items)) {
        frame.tick(1);
        if (readers === undefined) frame.slots[slots[0]!] = item;
        else
          for (let i = 0; i < slots.length; i++) frame.slots[slots[i]!] = readers[i]!(frame, item);
        for (const act of body) act(frame);
        index++;
      }
    } catch (error) {
      throw parameter === undefined ? error : atItem(error, parameter, index);
    }
  };
}

/** Adds the path of an item to an error that names a value: the caller finds the value in its list. */
function atItem(error: unknown, parameter: string, index: number): unknown {
  if (!(error instanceof TrellisError) || error.code !== 'UNIQUE_VIOLATION') return error;
  const { data } = error;
  return data.path === undefined
    ? new TrellisError({ ...data, path: pointerTo(pointerTo('', parameter), index) })
    : error;
}
