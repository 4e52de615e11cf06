// What the rules know of the plan at hand and of the types it is about.
import type { ElementKind, ElementType, Property, TypeRef } from '../../base/schema.js';
import type { Parameters } from '../can-throw.js';

/** The declarations a planner asks for. */
export interface Declarations {
  find(kind: ElementKind, name: string): ElementType | undefined;
  property(type: TypeRef, name: string): Property | undefined;
}

export interface Planning {
  declarations: Declarations;
  parameters: Parameters;
  /** How many filters of this plan have a number. */
  filters: number;
  /** How many slots it has. */
  slots: number;
}
