// Checks whether the shards run the same version of a query as the database that calls them. A reload reaches
// one shard after another, and a shard whose data refuse it keeps its own program.
// Invariant: the parts of one reply are made by one plan.
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { fail } from '../../base/errors.js';
import type { Plan } from '../../plan/plan.js';
import type { Program } from '../../plan/program.js';

/** Replicas with the same data, and their programs. */
type Shard = readonly { readonly program?: Program }[];

const pollMs = 10;

const plans = new WeakMap<Program, ReadonlyMap<string, Plan>>();
const digests = new WeakMap<Plan, string>();

function planOf(program: Program, name: string): Plan | undefined {
  let known = plans.get(program);
  if (known === undefined) {
    known = new Map(program.queries.map((query) => [query.name, query.plan]));
    plans.set(program, known);
  }
  return known.get(name);
}

/** Compares plans by digest, because each database of a cluster compiles its own. */
function digestOf(plan: Plan): string {
  let known = digests.get(plan);
  if (known === undefined) {
    const text = JSON.stringify(plan, (_, value: unknown) =>
      typeof value === 'bigint' ? `${value}n` : value,
    );
    known = createHash('sha256').update(text).digest('base64');
    digests.set(plan, known);
  }
  return known;
}

function isAgreed(shards: readonly Shard[], name: string, plan: Plan): boolean {
  return shards.every((replicas) =>
    replicas.every(({ program }) => {
      if (program === undefined) return true;
      const own = planOf(program, name);
      return own === plan || (own !== undefined && digestOf(own) === digestOf(plan));
    }),
  );
}

/** Fails PROGRAM_CHANGED. */
export function checkAgreed(shards: readonly Shard[], name: string, plan: Plan): void {
  if (!isAgreed(shards, name, plan)) fail('PROGRAM_CHANGED');
}

/**
 * Waits some time for shards that are switching to the same program. Returns undefined when no wait is
 * needed.
 */
export function whenAgreed(
  shards: readonly Shard[],
  name: string,
  plan: Plan,
  waitMs: number,
): Promise<void> | undefined {
  return isAgreed(shards, name, plan) ? undefined : agreeing(shards, name, plan, waitMs);
}

async function agreeing(
  shards: readonly Shard[],
  name: string,
  plan: Plan,
  waitMs: number,
): Promise<void> {
  const end = performance.now() + waitMs;
  while (performance.now() < end) {
    await pause(pollMs);
    if (isAgreed(shards, name, plan)) return;
  }
  fail('PROGRAM_CHANGED');
}
