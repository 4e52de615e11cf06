// Prints plans as indented text: statements and RETURN members on separate lines, each step of a
// long pipeline on one line. `$n` is a slot, `@name` a parameter.
import { unreachable } from '../base/assert.js';
import { printDate } from '../base/date.js';
import { type ParameterDefault, printType, type TypeRef } from '../base/schema.js';
import { Instant, Uuid } from '../base/value.js';
import type { Assignment, End, Expression, Member, Pipeline, Source, Step } from './expression.js';
import type { EmbedSite, Keep, Output, Parameter, Plan, Statement } from './plan.js';
import { stepsLeft } from './access-path.js';
import { printAccumulated, printPath, printSeek } from './print-access.js';

/**
 * Prints one plan: a heading with name, parameters and cost class, then its statements, texts to
 * embed and output.
 */
export function printPlan(plan: Plan): string {
  const printer: Printer = { parameters: plan.parameters };
  const heading = plan.parameters.map((p) => {
    const defaultText = p.default === undefined ? '' : ` = ${printDefault(p.default)}`;
    const mark = p.vector ? ' vector' : '';
    return `${p.name}${p.optional ? '?' : ''}: ${printType(p.type)}${mark}${defaultText}`;
  });
  const marks = [`cost ${plan.cost}`, ...(plan.writes ? ['writes'] : [])];
  if (plan.model !== undefined) marks.push(`model ${plan.model}`);
  return [
    `${plan.name}(${heading.join(', ')}) ${marks.join(', ')}`,
    ...plan.embeds.map((site) => `  embed ${embedSite(printer, site)}`),
    ...plan.statements.flatMap((statement) => printStatement(printer, statement, '  ')),
    ...printOutput(printer, plan.output),
  ].join('\n');
}

const printDefault = (value: ParameterDefault): string =>
  value.kind === 'now' ? 'now' : printValue(value.value);

interface Printer {
  parameters: readonly Parameter[];
  /**
   * Returns the text that stands for a pipeline inside other text; absent: the pipeline is printed
   * in place.
   */
  name?: (pipeline: Pipeline) => string;
}

/** Returns functions that print the parts of a plan. `name` gives the name of a pipeline. */
export function stepPrinter(plan: Plan, name: (pipeline: Pipeline) => string) {
  const printer: Printer = { parameters: plan.parameters, name };
  return {
    statements: (): string[] => [
      ...plan.statements.flatMap((statement) => printStatement(printer, statement, '')),
      ...printOutput(printer, plan.output).map((line) => line.trim()),
    ],
    /** Prints the source and the steps that its access path leaves. */
    pipeline: (pipeline: Pipeline): string[] => [
      printSource(printer, pipeline.source),
      ...stepsLeft(pipeline).map((step) => printStep(printer, step)),
    ],
  };
}

function embedSite(printer: Printer, { loops, text, type }: EmbedSite): string {
  const around = loops.map((loop) => ` for ${loopHead(printer, loop)}`);
  return `${inline(printer, text)}${type === undefined ? '' : ` as V<${type}>`}${around.join('')}`;
}

function loopHead(printer: Printer, loop: EmbedSite['loops'][number]): string {
  const names = loop.slots.map((slot, i) => {
    const member = loop.members?.[i];
    return member === undefined ? `$${slot}` : `$${slot} = .${member}`;
  });
  return `${names.join(', ')} in ${inline(printer, loop.in)}`;
}

function printStatement(printer: Printer, statement: Statement, indent: string): string[] {
  switch (statement.kind) {
    case 'bind':
      return [
        ...block(printer, `${indent}$${statement.slot} = `, statement.value, indent),
        ...keepLines(printer, statement.keep, indent),
      ];
    case 'effect':
      return block(printer, `${indent}do `, statement.value, indent);
    case 'drop':
      return block(printer, `${indent}drop `, statement.value, indent);
    case 'for':
      return [
        `${indent}for ${loopHead(printer, statement)}`,
        ...keepLines(printer, statement.keep, indent),
        ...statement.body.flatMap((inner) => printStatement(printer, inner, `${indent}  `)),
      ];
    default:
      return unreachable(statement);
  }
}

/** Prints the values that are computed with a binding, one per line. */
function keepLines(printer: Printer, keep: Keep | undefined, indent: string): string[] {
  return (keep?.members ?? []).flatMap(({ key, value, inner }) => [
    `${indent}    keep %${key} of $${keep!.slot} = ${inline(printer, value)}`,
    ...keepLines(printer, inner, `${indent}  `),
  ]);
}

function printOutput(printer: Printer, output: Output): string[] {
  switch (output.kind) {
    case 'object':
      if (output.members.length === 0) return ['  return {}'];
      return output.members.flatMap(({ key, value }) => {
        return block(printer, `  return ${key}: `, value, '  ');
      });
    case 'bare':
      return block(printer, `  return bare ${output.data ? 'with data ' : ''}`, output.value, '  ');
    case 'items':
      return block(printer, `  return ${output.answer} item of `, output.value, '  ');
    case 'inspection':
      return [`  return look at ${output.request.kind}`];
    default:
      return unreachable(output);
  }
}

const widthMax = 100;

/** Prints an expression after `head`. A pipeline that does not fit gets a line for each step. */
function block(printer: Printer, head: string, value: Expression, indent: string): string[] {
  const line = head + inline(printer, value);
  if (line.length <= widthMax || value.kind !== 'pipeline') return [line];
  return [
    `${head}${printSource(printer, value.source)} -> ${value.result}`,
    ...stepsLeft(value).map((step) => `${indent}    | ${printStep(printer, step)}`),
  ];
}

function inline(printer: Printer, value: Expression): string {
  const of = (inner: Expression) => inline(printer, inner);
  const list = (items: readonly Expression[]) => items.map(of).join(', ');
  switch (value.kind) {
    case 'literal':
      return printValue(value.value);
    case 'now':
      return 'now';
    case 'parameter':
      return `@${printer.parameters[value.index]?.name ?? value.index}`;
    case 'slot':
      return `$${value.slot}`;
    case 'property':
      return `${of(value.of)}.${value.name}`;
    case 'captured':
      return `${of(value.of)}%${value.key}`;
    case 'hoisted':
      return `once(${of(value.of)})`;
    case 'semiJoin':
      return `${of(value.of)} or, asked of many, ${printPath(value.path, of)}`;
    case 'with': {
      const lets = value.lets.map((each) => `$${each.slot} = ${of(each.value)}`);
      return `with(${lets.join(', ')}: ${of(value.value)})`;
    }
    case 'single':
      return `single(${of(value.of)}${value.miss === 'none' ? ' or null' : ''})`;
    case 'compare': {
      const marks = `${value.any ? ' any' : ''}${value.f32 ? ' f32' : ''}`;
      return `(${of(value.left)} ${value.operator}${marks} ${of(value.right)})`;
    }
    case 'and':
    case 'or':
      return `${value.kind}(${list(value.of)})`;
    case 'not':
    case 'exists':
      return `${value.kind}(${of(value.of)})`;
    case 'math':
      return `${value.function}(${list(value.of)})${value.integer ? ' integer' : ''}`;
    case 'aggregate':
      return `${value.function} of ${of(value.of)}${value.count ? ` over ${of(value.count)}` : ''}${value.integer ? ' integer' : ''}`;
    case 'if':
      return `if(${list([value.condition, value.value, value.otherwise])})`;
    case 'coalesce':
      return `coalesce(${list(value.of)})`;
    case 'text':
    case 'date':
      return `${value.function}(${list(value.of)})`;
    case 'list':
      return `[${list(value.items)}]`;
    case 'record':
      return `{${value.members.map((m) => `${m.name}: ${of(m.value)}`).join(', ')}}`;
    case 'embed':
      return `embed(${of(value.text)})`;
    case 'pipeline':
      return printPipeline(printer, value);
    case 'project':
      return `project ${of(value.of)} as $${value.slot} {${members(printer, value.members)}}`;
    default:
      return inlineWrite(printer, value);
  }
}

type Write = Extract<
  Expression,
  { kind: 'addNode' | 'addVector' | 'addVectors' | 'addEdge' | 'upsertEdge' | 'drop' | 'test' }
>;

function inlineWrite(printer: Printer, value: Write): string {
  const of = (inner: Expression) => inline(printer, inner);
  switch (value.kind) {
    case 'addNode':
      return `addNode ${value.type} ${assignments(printer, value.set)}`;
    case 'addVector':
      return `addVector ${value.type} ${of(value.vector)} ${assignments(printer, value.set)}`;
    case 'addVectors':
      return `addVectors ${value.type} ${of(value.vectors)}`;
    case 'addEdge': {
      const ends = printEnds(printer, value);
      return `addEdge ${value.type} ${assignments(printer, value.set)} ${ends}`;
    }
    case 'upsertEdge': {
      const set = assignments(printer, value.set);
      return `upsertEdge ${value.type} as $${value.slot} ${set} ${printEnds(printer, value)}`;
    }
    case 'drop':
      return `drop ${of(value.of)}`;
    case 'test':
      return `($${value.slot}.${value.key} ${value.operator} filter)`;
    default:
      return unreachable(value);
  }
}

function printEnds(printer: Printer, ends: { from: End; to: End }): string {
  const [from, to] = [ends.from, ends.to].map(
    (end) => `${end.many ? 'each ' : ''}${inline(printer, end.value)}`,
  );
  return `from ${from} to ${to}`;
}

function assignments(printer: Printer, set: readonly Assignment[]): string {
  const parts = set.map(({ property, value, unset }) => {
    return `${property}: ${unset ? 'unset' : inline(printer, value)}`;
  });
  return `{${parts.join(', ')}}`;
}

function members(printer: Printer, list: readonly Member[]): string {
  const parts = list.map((member) => {
    if (member.kind === 'value') return `${member.name}: ${inline(printer, member.value)}`;
    return member.except.length === 0 ? '..' : `.. except ${member.except.join(' ')}`;
  });
  return parts.join(', ');
}

function printPipeline(printer: Printer, pipeline: Pipeline): string {
  if (printer.name) return printer.name(pipeline);
  const steps = stepsLeft(pipeline).map((step) => printStep(printer, step));
  return `(${[printSource(printer, pipeline.source), ...steps].join(' | ')} -> ${pipeline.result})`;
}

const letters = { node: 'N', edge: 'E', vector: 'V' } as const;
const printRefs = (types: readonly TypeRef[]) => types.map(printRef).join(', ');
const printRef = (type: TypeRef) => `${letters[type.kind]}<${type.name}>`;

function printSource(printer: Printer, source: Source): string {
  const of = (value: Expression) => inline(printer, value);
  switch (source.kind) {
    case 'scan': {
      const types = source.types.map(printRef).join(', ');
      return source.access === undefined
        ? `scan ${types}`
        : `find ${types} ${printPath(source.access.path, of)}`;
    }
    case 'byId':
      return `byId ${printRefs([source.type, ...(source.others ?? [])])} ${of(source.id)}${missing(source.miss)}`;
    case 'lookup': {
      const first = source.first ? ' first' : '';
      const test = `${printRef(source.type)}.${source.property} = ${of(source.value)}`;
      return `lookup ${test}${first}${missing(source.miss)}`;
    }
    case 'searchVector': {
      const type = `V<${source.type}>`;
      return `search ${type} near ${of(source.vector)}${options(printer, source)}`;
    }
    case 'searchText': {
      const type = printRef(source.type);
      return `search ${type} text ${of(source.text)}${options(printer, source)}`;
    }
    case 'searchAnyVector':
      return `search any vector near ${of(source.vector)} k ${of(source.k)}`;
    case 'batch': {
      const test = `${printRefs(source.types)}.${source.property} each of ${of(source.values)}`;
      return `batch ${test}${source.nulls ? ' or null' : ''}`;
    }
    case 'value':
      return of(source.of);
    case 'set':
      return `${source.operation} of ${source.of.map(of).join(', ')}`;
    case 'fuse': {
      const k = source.k === null ? '' : ` k ${of(source.k)}`;
      const weights = source.weights === null ? '' : ` weights ${of(source.weights)}`;
      return `fuse ${source.of.map(of).join(', ')}${k}${weights}${printBy(printer, source)}`;
    }
    case 'items':
      return `items ${source.start}..${source.end}`;
    default:
      return unreachable(source);
  }
}

const missing = (miss: 'error' | 'none') => (miss === 'none' ? ' or nothing' : '');

type Search = Extract<Source, { kind: 'searchVector' | 'searchText' }>;

/** Prints what a search takes besides its type and query. */
function options(printer: Printer, search: Search): string {
  const of = (value: Expression) => inline(printer, value);
  const { k, scoreMin } = search;
  const lowest = scoreMin === undefined ? '' : ` from score ${of(scoreMin)}`;
  const width =
    search.kind === 'searchText' || search.ef === undefined ? '' : ` ef ${of(search.ef)}`;
  const words = search.kind === 'searchText' ? wordOptions(search, of) : '';
  return ` k ${of(k)}${lowest}${width}${words}${printBy(printer, search)}${filter(printer, search)}`;
}

function printBy(printer: Printer, { by }: Extract<Source, { by?: unknown }>): string {
  return by === undefined ? '' : ` by $${by.slot}: ${inline(printer, by.value)}`;
}

function wordOptions(
  { mode, prefix }: Extract<Search, { kind: 'searchText' }>,
  of: (value: Expression) => string,
): string {
  return `${mode ? ` mode ${of(mode)}` : ''}${prefix ? ` prefix ${of(prefix)}` : ''}`;
}

function filter(printer: Printer, search: Search): string {
  const { prefilter } = search;
  if (prefilter === undefined) return '';
  const { access, shared } = search;
  const path = access && ` found ${printPath(access.path, (value) => inline(printer, value))}`;
  const sharedText = shared === undefined ? '' : ` shared as filter ${shared}`;
  return ` prefilter $${prefilter.slot}: ${inline(printer, prefilter.value)}${path ?? ''}${sharedText}`;
}

function printStep(printer: Printer, step: Step): string {
  const of = (value: Expression) => inline(printer, value);
  const item = ({ slot, value }: { slot: number; value: Expression }) => `$${slot}: ${of(value)}`;
  switch (step.kind) {
    case 'neighbours':
    case 'edges': {
      const name = `${step.direction}${step.kind === 'edges' ? ' edges' : ''}`;
      return `${name} ${step.edges.join(', ')}`;
    }
    case 'expand':
      return printWalk(printer, step);
    case 'end':
      return `${step.end} end`;
    case 'origin':
      return `reached from ${step.end} end`;
    case 'where':
      return `where ${item(step.condition)}`;
    case 'intersect':
      return `intersect ${item(step.of)}`;
    case 'range':
      return `range ${of(step.start)} to ${step.end === null ? 'end' : of(step.end)}`;
    case 'first':
    case 'count':
      return step.kind;
    case 'map':
      return `map ${item(step.value)}`;
    case 'order':
      return printOrder(step, of);
    case 'dedup':
      return step.by === undefined ? 'dedup' : `dedup $${step.by.slot}: ${step.by.keys.map(of)}`;
    case 'group': {
      const keys = step.keys.map((key) => `${key.name}: ${of(key.value)}`).join(', ');
      const hasItems = step.data || step.whole;
      const shape = step.shape === undefined || !hasItems ? '' : ` data ${of(step.shape)}`;
      const whole = `${step.whole ? ' whole' : ''}${step.rows && step.whole ? ' rows' : ''}`;
      const read = keepLines(printer, step.keep, '').map((line) => line.trim());
      const accumulated =
        step.accumulate?.map((each, i) => ` #${i} = ${printAccumulated(each, of)}`) ?? [];
      const head = `${step.data ? 'aggregate' : 'group'}${whole} $${step.slot}: ${keys}${shape}${hasItems ? read.map((each) => ` ${each}`).join('') : ''}`;
      return `${head}${step.accumulate ? ` keeping${accumulated.join(',')}` : ''}`;
    }
    case 'page': {
      const keys =
        step.keys.length === 0
          ? ''
          : ` in ${printOrder({ kind: 'order', slot: step.slot, keys: step.keys }, of)}`;
      const after = step.after === null ? '' : ` behind ${of(step.after)}`;
      const shape = step.shape === undefined ? '' : ` as $${step.slot} ${of(step.shape)}`;
      return `page of ${of(step.count)}${after}${keys}${shape}${printSeek(step.seek, of)}`;
    }
    case 'rerankRRF':
      return `rerank rrf${step.k === null ? '' : ` k ${of(step.k)}`}`;
    case 'rerankMMR': {
      const distance = step.distance === null ? '' : ` distance ${of(step.distance)}`;
      return `rerank mmr lambda ${of(step.lambda)}${distance}`;
    }
    case 'searchWithin': {
      const lowest = step.scoreMin === undefined ? '' : ` from score ${of(step.scoreMin)}`;
      return `search within V<${step.type ?? 'any'}> near ${of(step.vector)} k ${of(step.k)}${lowest}`;
    }
    default:
      return printWriteStep(printer, step);
  }
}

/** A direction that all keys share is printed before them. */
function printOrder(
  { top, sorted, seek, slot, keys }: Extract<Step, { kind: 'order' }>,
  of: (value: Expression) => string,
): string {
  const directions = keys.map(({ descending, nullsFirst }) => {
    return `${descending ? 'desc' : 'asc'}${nullsFirst ? ' nulls first' : ''}`;
  });
  const head = top ? 'top' : 'order';
  const isOne = directions.every((direction) => direction === directions[0]);
  const after = sorted ? ' sorted by the first' : '';
  const each = keys.map(({ value }, i) => `${of(value)}${isOne ? '' : ` ${directions[i]}`}`);
  return `${head}${isOne ? ` ${directions[0]}` : ''} $${slot}: ${each.join(', ')}${after}${printSeek(seek, of)}`;
}

function printWalk(printer: Printer, step: Extract<Step, { kind: 'expand' }>): string {
  const { direction, take, edges, condition, hops } = step;
  const far = hops && (hops.max === null ? '*' : inline(printer, hops.max));
  const bounds = hops ? ` ${hops.min}..${far}${hops.multiSource ? ' from all at once' : ''}` : '';
  const test = condition && ` where $${condition.slot}: ${inline(printer, condition.value)}`;
  const what = take === 'edge' ? ' edges' : '';
  return `${hops ? 'walk ' : ''}${direction}${what} ${edges.join(', ')}${bounds}${test ?? ''}`;
}

type WriteStep = Extract<
  Step,
  { kind: 'update' | 'upsertNode' | 'upsertVector' | 'addEdge' | 'shortestPath' }
>;

function printWriteStep(printer: Printer, step: WriteStep): string {
  const of = (value: Expression) => inline(printer, value);
  switch (step.kind) {
    case 'update':
      return `update $${step.slot}: ${assignments(printer, step.set)}`;
    case 'upsertNode':
      return `upsert N<${step.type}> $${step.slot}: ${assignments(printer, step.set)}`;
    case 'upsertVector': {
      const set = assignments(printer, step.set);
      return `upsert V<${step.type}> $${step.slot}: ${of(step.vector)} ${set}`;
    }
    case 'addEdge': {
      const from = step.from === undefined ? 'row' : of(step.from);
      const to = step.to === undefined ? 'row' : of(step.to);
      return `addEdge ${step.type} ${assignments(printer, step.set)} from ${from} to ${to}`;
    }
    case 'shortestPath': {
      const weight = step.weight && ` weight $${step.weight.slot}: ${of(step.weight.value)}`;
      const estimate = step.heuristic === undefined ? '' : ` estimate .${step.heuristic}`;
      const direction = step.both ? 'both ways to' : step.reverse ? 'from' : 'to';
      const test = step.condition && ` where $${step.condition.slot}: ${of(step.condition.value)}`;
      const along = `${step.algorithm} ${step.edges.join(', ')} ${direction} ${of(step.target)}`;
      return `path ${along}${test ?? ''}${weight ?? ''}${estimate}${step.one ? '' : ' each'}`;
    }
    default:
      return unreachable(step);
  }
}

function printValue(value: unknown): string {
  if (value instanceof Instant) return `date ${printDate(value)}`;
  if (value instanceof Uuid) return `id ${value.text}`;
  if (Array.isArray(value) || value instanceof Float64Array) {
    return `[${Array.from(value, printValue).join(', ')}]`;
  }
  return typeof value === 'bigint' ? `${value}` : JSON.stringify(value);
}
