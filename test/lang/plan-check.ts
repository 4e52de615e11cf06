// Checks properties of every plan of the compiler, for any source: slots are bound before they are read,
// parameters exist, and the plan is data that can be sent to another thread.
import { expect } from 'vitest';
import type { Plan, Statement } from '../../engine/plan/plan.js';
import { printPlan } from '../../engine/plan/print-plan.js';

export function checkPlan(plan: Plan): void {
  const bound = new Set<number>();
  checkStatements(plan, plan.statements, bound);
  look(plan, plan.output, bound);
  for (const { loops, text } of plan.embeds) {
    const around = new Set<number>();
    for (const loop of loops) {
      look(plan, loop.in, around);
      for (const slot of loop.slots) bind(plan, slot, around);
    }
    look(plan, text, around);
  }
  expect(printPlan(plan)).not.toMatch(/undefined|\[object/);
  structuredClone(plan);
}

function checkStatements(plan: Plan, statements: readonly Statement[], bound: Set<number>): void {
  for (const statement of statements) {
    if (statement.kind !== 'for') {
      look(plan, statement.value, bound);
      if (statement.kind === 'bind') bind(plan, statement.slot, bound);
      continue;
    }
    look(plan, statement.in, bound);
    const inner = new Set(bound);
    for (const slot of statement.slots) bind(plan, slot, inner);
    if (statement.members) expect(statement.members.length).toBe(statement.slots.length);
    checkStatements(plan, statement.body, inner);
  }
}

function bind(plan: Plan, slot: number, bound: Set<number>): void {
  expect(slot).toBeGreaterThanOrEqual(0);
  expect(slot).toBeLessThan(plan.slotCount);
  bound.add(slot);
}

/** Whether a binding of the plan computes this value when it is made. */
function isKept(plan: Plan, key: number): boolean {
  const of = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return false;
    const { members } = value as { members?: unknown };
    // Members of an object have text for keys.
    const found = (members as { key?: unknown }[] | undefined)?.some?.((one) => one.key === key);
    if (found) return true;
    return Object.values(value).some(of);
  };
  return of(plan.statements) || of(plan.output);
}

/**
 * Everything with a slot binds it for its parts, but a projection not for what it projects, nor a
 * group for what it accumulates.
 */
function look(plan: Plan, value: unknown, bound: ReadonlySet<number>): void {
  if (typeof value !== 'object' || value === null) return;
  const node = value as Record<string, unknown>;
  if (node.kind === 'literal') return;
  if (node.kind === 'parameter') expect(node.index).toBeLessThan(plan.parameters.length);
  if (node.kind === 'slot') {
    if (!bound.has(node.slot as number))
      expect.fail(`$${node.slot} is not bound: ${printPlan(plan)}`);
    return;
  }
  if (node.kind === 'captured') {
    // What a binding has kept was computed there; names in sight there need not be in sight here.
    look(plan, node.of, bound);
    if (!isKept(plan, node.key as number)) look(plan, node.value, bound);
    return;
  }
  const inner = new Set(bound);
  if (node.kind === 'with') {
    look(plan, node.of, bound);
    // Each name is seen by those after it, and by the value that they stand beside.
    for (const { slot, value } of node.lets as { slot: number; value: unknown }[]) {
      look(plan, value, inner);
      if (inner.has(slot)) expect.fail(`$${slot} is bound twice: ${printPlan(plan)}`);
      bind(plan, slot, inner);
    }
    look(plan, node.value, inner);
    return;
  }
  if (typeof node.slot === 'number') {
    // A binder inside another of the same slot would lose the outer item.
    if (bound.has(node.slot)) expect.fail(`$${node.slot} is bound twice: ${printPlan(plan)}`);
    bind(plan, node.slot, inner);
  }
  for (const [key, part] of Object.entries(node)) {
    // A group accumulates each item under a slot of its own, which may be the one of its keys.
    const isApart =
      (node.kind === 'project' && key === 'of') || (node.kind === 'group' && key === 'accumulate');
    look(plan, part, isApart ? bound : inner);
  }
}
