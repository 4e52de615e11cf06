// What must hold of every plan that the compiler makes, whatever the source: slots are bound before
// they are read, parameters exist, and the plan is data that can be sent to another thread.
import { expect } from 'vitest';
import type { Plan, Statement } from '../../engine/plan/plan.js';
import { printPlan } from '../../engine/plan/print.js';

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

/** Everything with a slot binds it for its parts, but a projection not for what it projects. */
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
  const inner = new Set(bound);
  if (typeof node.slot === 'number') {
    // A binder inside another of the same slot would lose the outer item.
    if (bound.has(node.slot)) expect.fail(`$${node.slot} is bound twice: ${printPlan(plan)}`);
    bind(plan, node.slot, inner);
  }
  for (const [key, part] of Object.entries(node)) {
    look(plan, part, node.kind === 'project' && key === 'of' ? bound : inner);
  }
}
