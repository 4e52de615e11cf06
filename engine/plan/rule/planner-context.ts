// Information that the rules have about the current plan and about the types it uses.
import type { ElementKind, ElementType, Property, TypeRef } from '../../base/schema.js';
import type { Parameters } from '../can-throw.js';

/** The declarations that a planner reads. */
export interface Declarations {
  find(kind: ElementKind, name: string): ElementType | undefined;
  property(type: TypeRef, name: string): Property | undefined;
}

export interface Planning {
  declarations: Declarations;
  parameters: Parameters;
  /** Number of filters in this plan that have a number. */
  filters: number;
  /** Number of slots of the plan. */
  slots: number;
}
