// The texts that must be embedded before a transaction opens, from parameters alone.
import { describe, expect, it } from 'vitest';
import { type Argument, embeddingKey } from '../../engine/exec/runtime/execute.js';
import { collectTexts, execute } from '../../engine/exec/run.js';
import type { Expression } from '../../engine/plan/expression.js';
import { Garden, plan } from './support/garden.js';
import { kit } from './support/kit.js';

const { get, list, lit, parameter, set, slot } = kit;

const embed = (text: Expression): Expression => ({ kind: 'embed', text });
const row = (title: string, ...notes: string[]): Argument =>
  new Map<string, Argument>([
    ['title', title],
    ['notes', notes.map((text) => new Map([['text', text]]))],
  ]);

describe('texts to embed', () => {
  it('are collected from literals, parameters and nested loops, without duplicates', () => {
    const outer = { slots: [1], in: parameter(1) };
    const inner = { slots: [2], members: ['text'], in: get(slot(1), 'notes') };
    const made = plan({ kind: 'object', members: [] }, [], {
      embeds: [
        { loops: [], text: lit('fixed') },
        { loops: [], text: parameter(0) },
        { loops: [outer], text: get(slot(1), 'title') },
        { loops: [outer, inner], text: slot(2) },
      ],
    });
    const rows = [row('A', 'x', 'y'), row('B'), row('A', 'fixed')];
    expect(collectTexts(made, ['given', rows])).toEqual(['fixed', 'given', 'A', 'B', 'x', 'y']);
    expect(collectTexts(made, ['given', []])).toEqual(['fixed', 'given']);
  });

  it('may not be null', () => {
    const made = plan({ kind: 'object', members: [] }, [], {
      embeds: [{ loops: [], text: parameter(0) }],
    });
    expect(() => collectTexts(made, [null])).toThrow('Embed needs `text` (String).');
  });

  it('stand for their embedding when the plan runs', () => {
    const garden = new Garden();
    garden.embeddings = new Map([[embeddingKey(undefined, 'Moss'), Float64Array.of(3, 4)]]);
    const value: Expression = {
      kind: 'addVector',
      type: 'Note',
      vector: embed(parameter(0)),
      set: set({ text: parameter(0) }),
    };
    const made = plan({ kind: 'bare', value: list(get(value, 'data')), data: false });
    const { body } = execute(made, ['Moss'], garden.context(garden.view));
    expect(Buffer.from(body).toString()).toBe('[[3,4]]');
  });
});
