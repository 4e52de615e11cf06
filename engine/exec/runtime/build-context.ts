// Defines the builder for the families of expressions and operators: how to compile their parts. It keeps the
// families independent of each other; build.ts connects them.
import { fail } from '../../base/errors.js';
import type { ElementKind } from '../../base/schema.js';
import type { Expression, Pipeline, Source, Step } from '../../plan/expression.js';
import type { Plan } from '../../plan/plan.js';
import type { Form } from '../../plan/print-form.js';
import type { Catalog, Label } from '../../storage/table/view-types.js';
import type { Flow } from './flow.js';
import type { Frame } from './frame.js';
import type { MemberReader } from './member.js';
import type { PrintStyle, Evaluate, Print } from './compiled.js';
import type { Value } from './value.js';

export interface Builder {
  readonly catalog: Catalog;
  readonly style: PrintStyle;
  readonly parameters: Plan['parameters'];
  value(expression: Expression): Evaluate;
  /** `form` states how the static type of the value prints. */
  print(expression: Expression, form?: Form): Print;
  flow(pipeline: Pipeline): Flow;
  /** Returns the flow of a source or step, measured if the plan is profiled. */
  profiled<F extends Flow>(node: Source | Step, flow: F): F;
  /** Reads one member of elements, records and objects. */
  member(name: string): MemberReader;
}

/** Visits the items of a value until `visit` returns true. Returns true in that case. */
export type SomeOf = (frame: Frame, visit: (item: Value) => boolean) => boolean;

/**
 * Returns the stored label of a type, or undefined when the schema no longer has it (a session may outlive a
 * type).
 */
export function labelOf(builder: Builder, kind: ElementKind, name: string): Label | undefined {
  return builder.catalog.find(kind, name);
}

/**
 * Returns the label of a type that a compiled query names. The type is declared, otherwise the query would
 * not have been loaded.
 */
export function declared(builder: Builder, kind: ElementKind, name: string): Label {
  // A reload may have removed the type while the call was waiting.
  return builder.catalog.find(kind, name) ?? fail('UNKNOWN_TYPE', { kind, name });
}

/** Returns the labels of the named edge types, or all edge types when none is named. */
export function edgeLabels(builder: Builder, names: readonly string[]): Label[] {
  const edges = builder.catalog.labels().filter((label) => label.kind === 'edge');
  return names.length === 0 ? edges : edges.filter((label) => names.includes(label.name));
}

/** Returns true if plain data contain an object that `matches` accepts. */
export function containsObject(
  data: unknown,
  matches: (part: Record<string, unknown>) => boolean,
): boolean {
  if (typeof data !== 'object' || data === null) return false;
  if (Array.isArray(data)) return data.some((item) => containsObject(item, matches));
  const part = data as Record<string, unknown>;
  return matches(part) || Object.values(part).some((value) => containsObject(value, matches));
}
