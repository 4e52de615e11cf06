// Statements of a plan: bindings, effects, deletions and loops (helixql.md 3.3, 3.13).
import { unreachable } from '../base/assert.js';
import type { Plan, Statement } from '../plan/plan.js';
import { type Builder, mentions } from './builder.js';
import { recordOf } from './element.js';
import { rowsOf } from './flow.js';
import type { Frame } from './frame.js';
import { drop, eachElement } from './operators/change.js';
import { rowsOfValue } from './operators/source.js';
import type { Value } from './value.js';

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

export function buildStatements(builder: Builder, plan: Plan): Act[] {
  return buildBlock(builder, plan.statements, plan.writes && writes(plan.output));
}

/** `writeLater`: something may be written after this block, or before its next round. */
function buildBlock(
  builder: Builder,
  statements: readonly Statement[],
  writeLater: boolean,
): Act[] {
  const acts: Act[] = [];
  let later = writeLater;
  for (const statement of statements.toReversed()) {
    acts.push(buildStatement(builder, statement, later));
    later ||= writes(statement);
  }
  return acts.reverse();
}

/** `capture`: what is bound must not show later writes. */
function buildStatement(builder: Builder, statement: Statement, capture: boolean): Act {
  switch (statement.kind) {
    case 'bind': {
      const { slot } = statement;
      const value = builder.value(statement.value);
      if (!capture)
        return (frame) => {
          frame.slots[slot] = value(frame);
        };
      return (frame) => {
        frame.slots[slot] = captured(frame, value(frame));
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
      return (frame) => drop(frame, flow);
    }
    case 'for':
      return buildFor(builder, statement, capture);
    default:
      return unreachable(statement);
  }
}

/** Reads the records of all elements of a value, so that it stays as it is now (6.3). */
function captured(frame: Frame, value: Value): Value {
  eachElement(value, (element) => {
    if (element.record !== undefined) return;
    element.kept = true;
    recordOf(frame, element);
    frame.tick(1);
  });
  return value;
}

function buildFor(
  builder: Builder,
  statement: Extract<Statement, { kind: 'for' }>,
  capture: boolean,
): Act {
  const { slots, members } = statement;
  const list = builder.value(statement.in);
  const writesInside = capture || writes(statement.body);
  const body = buildBlock(builder, statement.body, writesInside);
  const readers = members?.map((name) => builder.member(name));
  return (frame) => {
    const items = list(frame);
    for (const item of rowsOf(writesInside ? captured(frame, items) : items)) {
      frame.tick(1);
      if (readers === undefined) frame.slots[slots[0]!] = item;
      else for (let i = 0; i < slots.length; i++) frame.slots[slots[i]!] = readers[i]!(frame, item);
      for (const act of body) act(frame);
    }
  };
}
