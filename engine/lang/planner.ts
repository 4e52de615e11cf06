// Simple planning: a scan filtered by equality on an indexed property becomes a lookup when nothing
// else changes.
import type { Property } from '../base/schema.js';
import type { Expression, Pipeline } from '../plan/expression.js';
import type { Parameter } from '../plan/plan.js';
import type { ItemExpression } from '../plan/step.js';
import type { SchemaIndex } from './schema-index.js';
import { familyOf, isInteger } from './type-relation.js';
import { scalarType } from './type.js';

type Compare = Extract<Expression, { kind: 'compare' }>;

/**
 * The pipeline with the condition turned into its source, or undefined when it must stay a step.
 * Only values that are never null and cannot fail qualify: `EQ` of null finds unset properties, a
 * lookup of null finds nothing.
 */
export function lookupForScan(
  schema: SchemaIndex,
  parameters: readonly Parameter[],
  scan: Expression,
  condition: ItemExpression,
): Pipeline | undefined {
  if (scan.kind !== 'pipeline' || scan.steps.length > 0) return undefined;
  if (scan.source.kind !== 'scan' || scan.source.types.length !== 1) return undefined;
  const type = scan.source.types[0]!;
  const { slot, value } = condition;
  const conjuncts = value.kind === 'and' ? value.of : [value];
  for (const [at, test] of conjuncts.entries()) {
    if (!isHarmless(test, slot)) return undefined;
    const { left, right, operator } = test;
    const property = left.kind === 'property' ? schema.property(type, left.name) : undefined;
    if (operator !== 'EQ' || property === undefined || property.index === 'none') continue;
    if (!suits(property, right, parameters)) continue;
    const rest = conjuncts.filter((_, i) => i !== at);
    const source = {
      kind: 'lookup',
      type,
      property: property.name,
      value: right,
      first: false,
      miss: 'none',
    } as const;
    const [only] = rest;
    if (only === undefined) return { ...scan, source };
    const left2: Expression = rest.length === 1 ? only : { kind: 'and', of: rest };
    return { ...scan, source, steps: [{ kind: 'where', condition: { slot, value: left2 } }] };
  }
  return undefined;
}

/**
 * A test of the item's own property against a literal or parameter: it never fails, so its order is
 * free.
 */
function isHarmless(test: Expression, slot: number): test is Compare {
  if (test.kind !== 'compare' || test.any || test.f32) return false;
  const { left, right } = test;
  const isOwn = left.kind === 'property' && left.of.kind === 'slot' && left.of.slot === slot;
  return isOwn && (right.kind === 'literal' || right.kind === 'parameter');
}

function suits(property: Property, value: Expression, parameters: readonly Parameter[]): boolean {
  if (property.type.kind !== 'scalar') return false;
  const type = scalarType(property.type.name);
  if (value.kind === 'literal') {
    if (value.value === null) return false;
    if (familyOf(type) !== 'number') return true;
    return typeof value.value === 'bigint' || Number.isInteger(value.value);
  }
  const parameter = value.kind === 'parameter' ? parameters[value.index] : undefined;
  if (parameter === undefined || parameter.optional) return false;
  if (parameter.type.kind !== 'scalar') return false;
  const given = scalarType(parameter.type.name);
  return familyOf(given) === familyOf(type) && (isInteger(given) || familyOf(type) !== 'number');
}
