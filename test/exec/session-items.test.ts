// Plans of sessions: items kept as ids and scores, items handed back in, deleted ones skipped.
import { describe, expect, it } from 'vitest';
import type { ItemList } from '../../engine/exec/runtime/execute.js';
import { execute } from '../../engine/exec/run.js';
import type { Pipeline } from '../../engine/plan/expression.js';
import { denseId, Garden, named, plan } from './support/garden.js';
import { kit } from './support/kit.js';

const { get, lit, many, of, order, out, range, scan, slot, where, compare } = kit;

function run(garden: Garden, value: Pipeline, answer: 'first' | 'all', items?: ItemList) {
  const made = plan({ kind: 'items', value, answer, data: false }, [], { writes: false });
  const result = execute(made, [], garden.context(garden.view, items));
  return { body: named(Buffer.from(result.body).toString()), items: result.items! };
}

const ids = (...aliases: string[]) => Uint32Array.from(aliases, denseId);
const traversal = (start = 0, end = -1) => ({ kind: 'items' as const, start, end });

describe('items of sessions', () => {
  it('keeps the ids of a step in shared memory and answers the first', () => {
    const { body, items } = run(new Garden(), many(scan('Gardener')), 'first');
    expect(body).toContain('{"id":"g1","label":"Gardener"');
    expect([...items.ids]).toEqual([...ids('g1', 'g2', 'g3')]);
    expect(items.ids.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(items.scores).toBeUndefined();
  });

  it('answers null for an empty traversal and [] for an empty search', () => {
    const garden = new Garden();
    expect(run(garden, many(of(lit(null))), 'first').body).toBe('null');
    expect(run(garden, many(of(lit(null))), 'all').body).toBe('[]');
  });

  it('keeps the scores of a search and gives them back', () => {
    const garden = new Garden();
    const search = many({
      kind: 'searchAnyVector',
      vector: lit(Float64Array.of(1, 0)),
      k: lit(2),
      scoreMin: lit(0),
    });
    const { body, items } = run(garden, search, 'all');
    expect(JSON.parse(body)).toMatchObject([
      { id: 'n1', score: 1 },
      { id: 'n2', score: 0.6 },
    ]);
    expect([...items.scores!]).toEqual([1, 0, 0.6, 0.4]);
    const again = run(garden, many(traversal(1)), 'first', items);
    expect(again.body).toContain('"id":"n2","label":"Note","score":0.6,"distance":0.4');
    const step = run(
      garden,
      many(traversal(), { kind: 'neighbours', direction: 'in', edges: ['Tells'] }),
      'first',
      items,
    );
    expect(step.items).toEqual({ ids: ids('p1', 'p2') });
  });

  it('keeps the hops of a repetition and gives them back [X009]', () => {
    const garden = new Garden();
    const beds = many(scan('Bed'), {
      kind: 'expand',
      direction: 'both',
      edges: ['Lane'],
      take: 'far',
      hops: { min: 0, max: lit(1) },
    });
    const { items } = run(garden, beds, 'first');
    expect(items.scores).toBeUndefined();
    expect(new Set(items.hops)).toEqual(new Set([0, 1]));
    const again = run(garden, many(traversal(1)), 'first', items);
    expect(again.body).toContain(`"hops":${items.hops![1]}`);
    expect([...again.items.hops!]).toEqual([...items.hops!.slice(1)]);
  });

  it('counts positions over the fixed list and skips deleted items', () => {
    const garden = new Garden();
    const items = { ids: ids('g1', 'g2', 'g3') };
    const { view } = garden;
    for (const edge of view.incident(denseId('g2'))) view.remove(edge);
    view.remove(denseId('g2'));
    const slice = (start: number, end: number) => {
      const value = many(traversal(start, end));
      const made = plan({ kind: 'bare', value: get(value, 'name'), data: false });
      const { body } = execute(made, [], garden.context(view, items));
      return Buffer.from(body).toString();
    };
    expect(slice(0, -1)).toBe('["Ana","Cy"]');
    expect(slice(0, 2)).toBe('["Ana"]');
    expect(slice(1, 2)).toBe('[]');
    expect(slice(2, 9)).toBe('["Cy"]');
    expect(run(garden, many(traversal(), out('Grows')), 'first', items).items.ids).toEqual(
      ids('p1', 'p2'),
    );
  });

  it('keeps duplicates and the order found by ORDER and WHERE', () => {
    const items = { ids: ids('p2', 'p3', 'p2', 'p1') };
    const steps = [
      where(1, compare('GT', get(slot(1), 'height'), lit(0.5))),
      order(2, false, get(slot(2), 'height')),
    ];
    const { items: kept } = run(new Garden(), many(traversal(), ...steps), 'first', items);
    expect(kept.ids).toEqual(ids('p3', 'p2', 'p2'));
  });

  it('bounds a traversal', () => {
    const garden = new Garden();
    garden.limits = { ...garden.limits, session_items: 2 };
    expect(() => run(garden, many(scan('Gardener')), 'first')).toThrow(
      'The result exceeds 2 session items.',
    );
    expect(
      run(garden, many(scan('Gardener'), range(lit(0), lit(2))), 'first').items.ids.length,
    ).toBe(2);
  });
});
