// Builds a plan once per catalog: resolves every name and compiles every expression to a closure. A built
// plan is cached while plan and catalog live, so that a request only has to run it.
import type { Expression, Pipeline, Source, Step } from '../../plan/expression.js';
import type { Form } from '../../plan/print-form.js';
import type { Plan } from '../../plan/plan.js';
import type { Catalog } from '../../storage/table/view-types.js';
import { buildFlow } from './flow.js';
import type { Builder } from '../runtime/build-context.js';
import { buildExpression } from './expression.js';
import type { Flow } from '../runtime/flow.js';
import { memberReader, type MemberReader } from '../runtime/member.js';
import type { PrintStyle, Evaluate, Print } from '../runtime/compiled.js';
import { buildPrint } from '../reply/print-expression.js';
import { Profile } from './profile.js';
import { type BuiltOutput, buildOutput } from '../reply/output.js';
import { type Act, buildStatements } from './statement.js';

export interface BuiltPlan {
  statements: readonly Act[];
  output: BuiltOutput;
  /** Set for a plan that is profiled. */
  profile: Profile | undefined;
}

export class PlanBuilder implements Builder {
  readonly #readers = new Map<string, MemberReader>();

  constructor(
    readonly catalog: Catalog,
    readonly style: PrintStyle,
    readonly parameters: Plan['parameters'],
    private readonly profile?: Profile,
  ) {}

  value(expression: Expression): Evaluate {
    return buildExpression(this, expression);
  }

  print(expression: Expression, form?: Form): Print {
    return buildPrint(this, expression, form);
  }

  flow(pipeline: Pipeline): Flow {
    return buildFlow(this, pipeline);
  }

  profiled<F extends Flow>(node: Source | Step, flow: F): F {
    return this.profile === undefined ? flow : this.profile.wrap(node, flow);
  }

  member(name: string): MemberReader {
    let reader = this.#readers.get(name);
    if (reader === undefined) {
      reader = memberReader(this.catalog, name, this.style.compat);
      this.#readers.set(name, reader);
    }
    return reader;
  }
}

function buildPlan(plan: Plan, catalog: Catalog): BuiltPlan {
  const { output } = plan;
  const data = (output.kind === 'bare' || output.kind === 'items') && output.data;
  const style = { data, compat: plan.compat, fractions: plan.compat || plan.fractions === true };
  const profile = plan.profile ? new Profile() : undefined;
  const builder = new PlanBuilder(catalog, style, plan.parameters, profile);
  return {
    statements: buildStatements(builder, plan),
    output: buildOutput(builder, output),
    profile,
  };
}

const built = new WeakMap<Catalog, WeakMap<Plan, BuiltPlan>>();

/** Returns the built form of a plan under a catalog. Neither may be changed afterwards. */
export function builtPlan(plan: Plan, catalog: Catalog): BuiltPlan {
  let plans = built.get(catalog);
  if (plans === undefined) built.set(catalog, (plans = new WeakMap()));
  let found = plans.get(plan);
  if (found === undefined) plans.set(plan, (found = buildPlan(plan, catalog)));
  return found;
}
