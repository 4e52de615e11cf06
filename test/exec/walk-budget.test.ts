// What a repetition may use up in a dense graph [X010]: work, memory, time; and how early it ends.
import { describe, expect, it } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { defaultLimits, type Limits } from '../../engine/base/limits.js';
import { execute } from '../../engine/exec/run.js';
import type { Expression, Step } from '../../engine/plan/expression.js';
import { Garden, plan } from './support/garden.js';
import { kit } from './support/kit.js';

const { count, exists, first, many, of, one, opt, scan } = kit;

const beds = 60;

/** Beds of which each leads to every other one, and a line of beds behind the last. */
function denseGarden(): { garden: Garden; all: number[] } {
  const garden = new Garden();
  const { view } = garden;
  const bed = view.catalog.find('node', 'Bed')!;
  const lane = view.catalog.find('edge', 'Lane')!;
  const all = Array.from({ length: beds }, (_, i) =>
    view.createNode(bed, new Map([['code', `d${i}`]])),
  );
  for (const a of all) for (const b of all) view.createEdge(lane, a, b, new Map([['metres', 1]]));
  return { garden, all };
}

const { garden } = denseGarden();
const lanes = (min: number, max: number | null): Step => ({
  kind: 'expand',
  direction: 'both',
  edges: ['Lane'],
  take: 'far',
  hops: { min, max: max === null ? null : { kind: 'literal', value: max } },
});

function run(value: Expression, limits: Partial<Limits> = {}, cancelled = () => false) {
  const { view } = garden;
  Object.assign(view.reads, { record: 0, adjacency: 0, degree: 0, lookup: 0, scanned: 0 });
  const context = { ...garden.context(view), limits: { ...defaultLimits, ...limits }, cancelled };
  try {
    const { body } = execute(plan({ kind: 'bare', value, data: false }), [], context);
    return { answer: Buffer.from(body).toString(), adjacencies: view.reads.adjacency };
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return { answer: error.code, adjacencies: view.reads.adjacency };
  }
}

const newest: Expression = many(scan('Bed'));
const last = many(of(newest), { kind: 'range', start: lit(62), end: lit(63) });
function lit(value: number): Expression {
  return { kind: 'literal', value };
}

describe('repetitions in a dense graph [X010]', () => {
  it.each([
    ['work', { query_visits: 2000 }, 'QUERY_WORK'],
    ['memory', { query_memory: 2000 }, 'QUERY_MEMORY'],
    ['nothing', {}, String(beds - 1)],
  ])('%s ends it', (_what, limits, answer) => {
    expect(run(one(of(last), lanes(1, null), count), limits).answer).toBe(answer);
  });

  it('checks for a waiting caller at least every 1,024 edges', () => {
    let polls = 0;
    run(one(of(last), lanes(1, null), count), {}, () => ++polls < 0);
    expect(polls).toBeGreaterThanOrEqual(Math.floor((beds * beds) / 1024));
    const { answer } = run(one(of(last), lanes(1, null), count), {}, () => true);
    expect(answer).toBe('QUERY_TIMEOUT');
  });

  it('stops at the level that decides', () => {
    const whole = run(one(of(last), lanes(1, null), count)).adjacencies;
    for (const early of [
      opt(of(last), lanes(1, null), first),
      exists(many(of(last), lanes(1, null))),
    ])
      expect(run(early).adjacencies).toBeLessThanOrEqual(2);
    expect(whole).toBeGreaterThanOrEqual(2 * beds);
  });
});
