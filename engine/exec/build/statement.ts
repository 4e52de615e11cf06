// Statements of a plan: bindings, effects, deletions and loops (helixql.md 3.3, 3.13).
import { unreachable } from '../../base/assert.js';
import type { Keep, Plan, Statement } from '../../plan/plan.js';
import { kindOf } from '../../storage/record/record.js';
import { type Builder, mentions } from '../row/builder.js';
import { recordOf } from '../row/element.js';
import { rowsOf } from '../row/flow.js';
import type { Frame } from '../row/frame.js';
import { drop, eachElement } from '../change/change.js';
import { rowsOfValue } from '../operators/source.js';
import type { Element, Value } from '../row/value.js';

/** One statement, ready to run. */
export type Act = (frame: Frame) => void;

const writeKinds = new Set<unknown>([
  'drop',
  'addNode',
  'addVector',
  'addVectors',
  'addEdge',
  'upsertEdge',
  'update',
  'upsertNode',
  'upsertVector',
]);

const writes = (data: unknown): boolean => mentions(data, (part) => writeKinds.has(part.kind));

/** What a binding reads at once, so that it does not show what is written later. */
type Capture = 'nothing' | 'records' | 'recordsAndVectors';

export function buildStatements(builder: Builder, plan: Plan): Act[] {
  const capture = builder.style.data || losesVectors(plan) ? 'recordsAndVectors' : 'records';
  const later = plan.writes && writes(plan.output);
  return buildBlock(builder, plan.statements, later ? capture : 'nothing', capture);
}

const measures = new Set<unknown>(['rerankMMR', 'searchWithin']);

/**
 * Whether a plan reads embeddings, as [compat] does wherever it prints vectors, and may replace or
 * delete some.
 */
function losesVectors({ statements, output, compat }: Plan): boolean {
  const parts = [statements, output];
  return (
    mentions(parts, ({ kind }) => kind === 'upsertVector' || kind === 'drop') &&
    (compat ||
      mentions(
        parts,
        ({ kind, name }) => measures.has(kind) || (kind === 'property' && name === 'data'),
      ))
  );
}

/**
 * `later`: what must be captured because something may be written after this block, or before its
 * next round; `capture`: the same where a statement of the block writes.
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

/** `after`: what of the bound value must be kept from the statements that follow. */
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
      const keep = buildKeep(builder, statement.keep, after);
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

/** Reads what there is of all elements of a value, so that it stays as it is now (6.3). */
function captured(frame: Frame, value: Value, capture: Capture): Value {
  if (capture === 'nothing') return value;
  eachElement(frame, value, (element) => {
    if (element.record === undefined) {
      element.kept = true;
      recordOf(frame, element);
      frame.tick(1);
    }
    if (capture === 'recordsAndVectors' && element.vector === undefined)
      captureVector(frame, element);
  });
  return value;
}

type KeepAll = (frame: Frame, value: Value) => void;

/**
 * Computes what a shape needs of every item bound; undefined where nobody could tell it from
 * computing it later.
 */
function buildKeep(builder: Builder, keep: Keep | undefined, after: Capture): KeepAll | undefined {
  if (keep === undefined || (after === 'nothing' && !writes(keep))) return undefined;
  const { slot } = keep;
  const members = keep.members.map(({ key, value, inner }) => ({
    key,
    value: builder.value(value),
    inner: buildKeep(builder, inner, after),
  }));
  return (frame, value) => {
    for (const item of rowsOf(value)) {
      if (typeof item !== 'object' || item === null) continue;
      for (const member of members) {
        frame.slots[slot] = item;
        const found = captured(frame, member.value(frame), after);
        frame.keep(item, member.key, found);
        member.inner?.(frame, found);
      }
    }
  };
}

function captureVector(frame: Frame, element: Element): void {
  const { record } = element;
  if (record === undefined || kindOf(record) !== 'vector') return;
  element.vector = frame.view.vector(element.id);
  frame.charge(8 * (element.vector?.length ?? 0));
  frame.tick(1);
}

function buildFor(
  builder: Builder,
  statement: Extract<Statement, { kind: 'for' }>,
  after: Capture,
  capture: Capture,
): Act {
  const { slots, members } = statement;
  const list = builder.value(statement.in);
  // Arguments hold no elements.
  const isPlain = statement.in.kind === 'parameter';
  const inside = writes(statement.body) ? capture : after;
  const body = buildBlock(builder, statement.body, inside, capture);
  const readers = members?.map((name) => builder.member(name));
  const keep = buildKeep(builder, statement.keep, inside);
  return (frame) => {
    const items = isPlain ? list(frame) : captured(frame, list(frame), inside);
    keep?.(frame, items);
    for (const item of rowsOf(items)) {
      frame.tick(1);
      if (readers === undefined) frame.slots[slots[0]!] = item;
      else for (let i = 0; i < slots.length; i++) frame.slots[slots[i]!] = readers[i]!(frame, item);
      for (const act of body) act(frame);
    }
  };
}
