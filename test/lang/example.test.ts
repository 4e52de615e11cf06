// The worked examples of the language: all compile, in both modes; the faulty one gives exactly its
// diagnostics.
import { expect, test } from 'vitest';
import { printPlan } from '../../engine/plan/print-plan.js';
import { compileGarden, examplesText, planLines, queryOf } from './garden.js';

for (const compat of [false, true]) {
  test(`X01 to X27 compile without a diagnostic, compat ${compat}`, () => {
    const { program, diagnostics } = compileGarden(examplesText, compat);
    expect(diagnostics).toEqual([]);
    expect(program!.queries.length).toBe(53);
    for (const { plan } of program!.queries) {
      expect(plan.compat).toBe(compat);
      expect(printPlan(plan)).not.toContain('undefined');
    }
  });
}

test('X28 differs only in shapes and in the by-property rule', () => {
  const inCity = 'QUERY q(city: String) => found <- N<Gardener>({city: city}) RETURN found';
  expect(planLines(inCity)[0]).toBe('return found: (lookup N<Gardener>.city = @city -> many)');
  expect(planLines(inCity, true)[0]).toBe(
    'return found: (lookup N<Gardener>.city = @city first -> one)',
  );
  const names = 'QUERY q() => g <- N<Gardener> RETURN g::{name}';
  expect(planLines(names)[0]).toBe(
    'return g: project (scan N<Gardener> -> many) as $1 {name: $1.name}',
  );
  expect(planLines(names, true)[0]).toBe('return g: (scan N<Gardener> | map $1: $1.name -> many)');
  expect(planLines('QUERY q() => RETURN NONE')).toEqual(['return {}']);
  expect(planLines('QUERY q() => RETURN NONE', true)).toEqual(['return bare null']);
  expect(planLines('QUERY q() => RETURN {a: 1}')).toEqual(['return data: {a: 1}']);
  expect(planLines('QUERY q() => RETURN {a: 1}', true)).toEqual(['return bare {a: 1}']);
  expect(queryOf('QUERY q() => RETURN {a: 1}', true).returns).toEqual(['a']);
  const score =
    'QUERY q(v: [F64]) => h <- SearchV<Note>(v, 3)::WHERE(_::{score}::LT(0.5)) RETURN h';
  expect(planLines(score, true)[0]).toContain('($0.distance LT 0.5)');
  const set = 'QUERY q(v: [F64]) => h <- SearchV<Note>(v, 3)::RerankRRF RETURN h::{a: score, id}';
  expect(planLines(set, true)[1]).toContain('a: $1.score');
});

test('X29 gives its six diagnostics in order, with their hints', () => {
  const bad = `QUERY bad(y: String) =>
    a <- N<Plant>::{ hight }    b <- N<Bed>::Out<Grows>    a <- N<Bed>
    c <- AddN<Plant>({ stock: y })    d <- N<Bed>::LIMIT(5)
    RETURN zzz`;
  const { program, diagnostics } = compileGarden(bad);
  expect(program).toBeUndefined();
  expect(diagnostics.map((d) => `${d.code} ${d.line}:${d.column}`)).toEqual([
    'E202 2:22',
    'E207 2:50',
    'E302 2:60',
    'E205 3:31',
    'E602 3:52',
    'E301 4:12',
  ]);
  expect(diagnostics[0]!.hint).toBe('Did you mean `height`?');
  expect(diagnostics[1]!.message).toContain('Grows');
  expect(diagnostics[4]!.hint).toContain('RANGE(0, 5)');
  expect(new Set(diagnostics.map((d) => d.query))).toEqual(new Set(['bad']));
});
