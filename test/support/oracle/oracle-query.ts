// Random queries for the oracle: chains of every step over a random schema, typed well enough that
// most of them compile. What does not compile is left out by the caller.
import { type Stream, together, walks } from './oracle-extension.js';
import { propertyTypes, valueTexts, vectorTexts, type WorldType } from './oracle-schema.js';
import { batchSource } from './function/batch.js';
import {
  bound,
  branched,
  pathLength,
  readTrail,
  shaped,
  trailAnswer,
  written,
} from './function/form.js';
import { shapedGroups, orderStep, paged } from './function/order.js';
import { dateCall, functionTest, numberCall, textCall } from './function/write.js';
import type { Random } from '../random.js';

export interface WorldParameter {
  name: string;
  type: string;
  optional: boolean;
  /** For an ID: the type whose elements are named most often. */
  element?: string;
}

const numeric = ['size', 'rank', 'level', 'serial', 'huge', 'ratio', 'weight'];
const integers = ['size', 'rank', 'level', 'serial', 'huge'];

export class QueryWriter {
  readonly parameters: WorldParameter[] = [];
  readonly variables: Stream[] = [];
  /** Names that hold how many elements were deleted. */
  readonly counts: string[] = [];
  #names = 0;

  constructor(
    readonly random: Random,
    readonly types: readonly WorldType[],
  ) {}

  name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  type(name: string): WorldType {
    return this.types.find((type) => type.name === name)!;
  }

  parameter(type: string, element?: string): string {
    const name = this.name('p');
    const optional = this.random.chance(0.3);
    this.parameters.push({ name, type, optional, ...(element && { element }) });
    return name;
  }

  properties(types: readonly string[]): string[] {
    const all = types.flatMap((name) => this.type(name).properties.map((p) => p.name));
    return [...new Set(all)];
  }

  /** A value of a property's type: literal, parameter, or a property of the item. */
  operand(property: string, types: readonly string[], item = '_'): string {
    const { random } = this;
    const type = propertyTypes[property]!;
    const isNumeric = numeric.includes(property);
    const others = this.properties(types).filter(
      (name) => propertyTypes[name] === type || (isNumeric && numeric.includes(name)),
    );
    const choice = random.below(10);
    if (choice < 2 && others.length > 0) return `${item}::{${random.pick(others)}}`;
    if (choice === 2 && isNumeric) return this.arithmetic(types, 1, item);
    if (choice === 2 && type === 'String') return textCall(this, types, item);
    if (choice === 2 && type === 'Date') return dateCall(this, types, item);
    if (choice < 6 || type === 'ID') return this.parameter(type);
    const other = isNumeric && random.chance(0.3) ? random.pick(numeric) : property;
    return random.pick(valueTexts[propertyTypes[other]!]!);
  }

  arithmetic(types: readonly string[], depth: number, item = '_'): string {
    const { random } = this;
    const names = this.properties(types).filter((name) => numeric.includes(name));
    if (depth === 0 || names.length === 0) {
      if (names.length > 0 && random.chance(0.7)) return `${item}::{${random.pick(names)}}`;
      return random.pick([...valueTexts.I8!, '2.5', '0.5', '3']);
    }
    const one = () => this.arithmetic(types, depth - 1, item);
    const two = () => `${one()}, ${one()}`;
    return random.pick([
      () => `${random.pick(['ADD', 'SUB', 'MUL', 'MIN', 'MAX', 'ATAN2'])}(${two()})`,
      () => `${random.pick(['ADD', 'SUB', 'MUL', 'MIN', 'MAX'])}(${two()})`,
      () => `${random.pick(['MOD', 'DIV'])}(${one()}, ${random.pick(['2', '3', '-4', '0.5'])})`,
      () => `${random.pick(['ABS', 'ROUND', 'CEIL', 'FLOOR', 'SIN', 'COS', 'ATAN'])}(${one()})`,
      () => `${random.pick(['SQRT', 'LN', 'LOG10'])}(ADD(ABS(${one()}), 1))`,
      () => `LOG(ADD(ABS(${one()}), 1), 3)`,
      () => `POW(${one()}, 2)`,
      () => numberCall(this, types, item),
      () => `EXP(MIN(${one()}, 3))`,
    ])();
  }

  condition(types: readonly string[], depth: number, item = '_'): string {
    const { random } = this;
    const inner = () => this.condition(types, depth - 1, item);
    const choice = random.below(depth > 0 ? 16 : 10);
    if (choice === 10) return `AND(${inner()}, ${inner()})`;
    if (choice === 11) return `OR(${inner()}, ${inner()})`;
    if (choice === 12) return `!${inner()}`;
    if (choice >= 13) return this.reaching(types, depth, item);
    return this.comparison(types, item);
  }

  comparison(types: readonly string[], item: string): string {
    const { random } = this;
    if (random.chance(0.1)) return functionTest(this, types, item);
    const names = this.properties(types);
    if (names.length === 0 || random.chance(0.08)) {
      const operator = random.pick(['EQ', 'NEQ', 'GT', 'LTE']);
      return `${item}::ID::${operator}(${this.parameter('ID', types[0])})`;
    }
    const property = random.pick(names);
    const type = propertyTypes[property]!;
    if (type === 'Boolean' && random.chance(0.3)) return `${item}::{${property}}`;
    if (random.chance(0.1)) return `${item}::{${property}}::${random.pick(['EQ', 'NEQ'])}(NONE)`;
    if (type.startsWith('[') && random.chance(0.6)) {
      const inner = type.slice(1, -1);
      const value = random.chance(0.5) ? random.pick(valueTexts[inner]!) : this.parameter(inner);
      return `${item}::{${property}}::CONTAINS(${value})`;
    }
    if (type === 'String' && random.chance(0.2))
      return `${item}::{${property}}::CONTAINS(${random.pick(['"e"', '""', '"fern"'])})`;
    if (!type.startsWith('[') && random.chance(0.2)) return this.membership(property, item);
    const operator = random.pick(['EQ', 'EQ', 'EQ', 'NEQ', 'GT', 'GTE', 'LT', 'LTE']);
    return `${item}::{${property}}::${operator}(${this.operand(property, types, item)})`;
  }

  membership(property: string, item: string): string {
    const { random } = this;
    const type = propertyTypes[property]!;
    const list =
      random.chance(0.5) || type === 'ID'
        ? this.parameter(`[${type}]`)
        : `[${random.some(valueTexts[type]!, 0.5).join(', ')}]`;
    return `${item}::{${property}}::IS_IN(${list})`;
  }

  /** A condition through a graph step. */
  reaching(types: readonly string[], depth: number, item: string): string {
    const { random } = this;
    if (random.chance(0.25)) return this.overVariables(types, item);
    const step = this.graphStep({ text: item, types, many: false });
    if (step === undefined) return this.comparison(types, item);
    const names = this.properties(step.types);
    const choice = random.below(5);
    if (choice === 0) return `EXISTS(${step.text})`;
    if (choice === 1)
      return `EXISTS(${step.text}::WHERE(${this.condition(step.types, depth - 1)}))`;
    if (choice === 2 && step.many)
      return `${step.text}::COUNT::${random.pick(['EQ', 'GT', 'LT', 'GTE'])}(${random.below(3)})`;
    if (names.length === 0) return `EXISTS(${step.text})`;
    const property = random.pick(names);
    if (propertyTypes[property]!.startsWith('[')) return `EXISTS(${step.text})`;
    const operator = random.pick(['EQ', 'NEQ', 'GT', 'LTE']);
    return `${step.text}::{${property}}::${operator}(${this.operand(property, types, item)})`;
  }

  /** A condition that looks at variables, lists as a whole, or other elements. */
  overVariables(types: readonly string[], item: string): string {
    const { random } = this;
    const lists = this.properties(types).filter((name) => propertyTypes[name]!.startsWith('['));
    const list = lists.length > 0 ? random.pick(lists) : undefined;
    const choice = random.below(4);
    if (choice === 0 && list !== undefined)
      return `${item}::{${list}}::COUNT::GT(${random.below(2)})`;
    if (choice === 1 && list !== undefined && list !== 'tags')
      return `SUM(${item}::{${list}})::${random.pick(['GT', 'LTE'])}(2)`;
    const variable = this.variables.length > 0 ? random.pick(this.variables) : undefined;
    if (variable === undefined) {
      const other = random.pick(this.types);
      if (other.properties.length === 0) return `EXISTS(${other.kind}<${other.name}>)`;
      const { name } = random.pick(other.properties);
      return `EXISTS(${other.kind}<${other.name}>({${name}: ${this.operandOf(name)}}))`;
    }
    if (choice === 2) {
      const same = this.properties(types).filter(
        (name) =>
          this.properties(variable.types).includes(name) && !propertyTypes[name]!.startsWith('['),
      );
      if (same.length > 0) {
        const name = random.pick(same);
        return `${item}::{${name}}::${variable.many ? 'IS_IN' : 'EQ'}(${variable.text}::{${name}})`;
      }
    }
    const step = this.graphStep({ text: item, types, many: false });
    if (step?.many && !variable.many) return `${step.text}::CONTAINS(${variable.text})`;
    return `${item}::${random.pick(['IS_IN', 'IS_IN', 'EQ'])}(${variable.text})`;
  }

  source(): Stream {
    const { random } = this;
    const type = random.pick(this.types);
    const { kind, name } = type;
    const make = (text: string, many: boolean, types: readonly string[] = [name]): Stream => ({
      text,
      many,
      types,
    });
    const choice = random.below(14);
    if (choice >= 12) return together(this, choice === 12);
    if (random.chance(0.06)) return batchSource(this, type);
    if (random.chance(0.05)) return branched(this);
    if (choice < 3 && this.variables.length > 0) return random.pick(this.variables);
    if (choice === 3) {
      const own = this.variables.filter(
        (v) => !v.many && v.types.length === 1 && v.types[0] === name,
      );
      const id =
        own.length > 0 && random.chance(0.3) ? random.pick(own).text : this.parameter('ID', name);
      return make(`${kind}<${name}>(${id})`, false);
    }
    if (choice < 6 && type.properties.length > 0) {
      const property = random.pick(type.properties);
      const many = property.index !== 'UNIQUE INDEX ';
      return make(`${kind}<${name}>({${property.name}: ${this.operandOf(property.name)}})`, many);
    }
    if (choice === 6) {
      const other = random.pick(this.types.filter((each) => each.kind === kind));
      if (other.name !== name)
        return make(`${kind}<${name}, ${other.name}>`, true, [name, other.name]);
    }
    if (choice === 7 && kind === 'V') return make(this.vectorSearch(name), true);
    if (choice === 7 && kind === 'N')
      return make(
        `SearchBM25<${name}>(${random.pick(['"fern"', '"rose sun"', '"FERN rose"'])}, ${this.count()})`,
        true,
      );
    return make(`${kind}<${name}>`, true);
  }

  count(): string {
    return this.random.pick(['1', '2', '3', '50']);
  }

  vectorSearch(name: string, mayFilter = true): string {
    const search = `SearchV<${name}>(${this.random.pick(vectorTexts)}, ${this.count()})`;
    return mayFilter && this.random.chance(0.4)
      ? `${search}::PREFILTER(${this.condition([name], 1)})`
      : search;
  }

  /** A literal or a parameter. */
  operandOf(property: string): string {
    const type = propertyTypes[property]!;
    if (this.random.chance(0.5) || type === 'ID') return this.parameter(type);
    return this.random.pick(valueTexts[type]!);
  }

  /** One graph step that the types allow; undefined when there is none. */
  graphStep({ text, types, many }: Stream): Stream | undefined {
    const { random } = this;
    const edges = this.types.filter(({ kind }) => kind === 'E');
    const steps: Stream[] = [];
    for (const type of types.map((name) => this.type(name))) {
      const kindOf = (name: string) => this.type(name).kind;
      if (type.kind === 'E') {
        const { from, to } = type as { from: string; to: string };
        steps.push({ text: `From${kindOf(from)}`, types: [from], many });
        steps.push({ text: `To${kindOf(to)}`, types: [to], many });
        continue;
      }
      for (const { name, from, to } of edges) {
        if (random.chance(0.3)) {
          steps.push(...walks(this, { name, from: from!, to: to! }, type.name));
          continue;
        }
        if (from === type.name) {
          steps.push({ text: `Out<${name}>`, types: [to!], many: true });
          steps.push({ text: `OutE<${name}>`, types: [name], many: true, reached: [to!] });
        }
        if (to === type.name) {
          steps.push({ text: `In<${name}>`, types: [from!], many: true });
          steps.push({ text: `InE<${name}>`, types: [name], many: true, reached: [from!] });
        }
      }
    }
    if (steps.length === 0) return undefined;
    const step = random.pick(steps);
    return { ...step, text: `${text}::${step.text}` };
  }

  orderKey(types: readonly string[]): string {
    const { random } = this;
    const names = this.properties(types);
    const choice = random.below(8);
    if (choice === 0 || names.length === 0) return '_::ID';
    if (choice === 1) {
      const step = this.graphStep({ text: '_', types, many: false });
      if (step?.many) return `${step.text}::COUNT`;
    }
    if (choice === 2) return this.arithmetic(types, 1);
    return `_::{${random.pick(names)}}`;
  }

  /** One more step; elements stay elements. */
  step(stream: Stream): Stream {
    const { random } = this;
    const { text, types } = stream;
    const read = readTrail(this, stream);
    if (read !== undefined) return read;
    const add = (step: string, many = stream.many): Stream => ({
      ...stream,
      text: `${text}::${step}`,
      many,
    });
    switch (random.below(14)) {
      case 0:
        if (random.chance(0.2)) return add(`RANGE(0, ${this.parameter('U8')})`, true);
        return add(`RANGE(${random.below(3)}, ${random.pick(['1', '2', '5', '99'])})`, true);
      case 1:
        return add('FIRST', false);
      case 2:
      case 3:
        return add(orderStep(this, types), true);
      case 4:
        if (random.chance(0.5)) return add('DEDUP', true);
        return add(`DEDUP(${this.orderKey(types)}, ${this.orderKey(types)})`, true);
      case 5: {
        const inner = this.graphStep({ text: '_', types, many: false });
        if (!inner?.many) return stream;
        return { text: `${text}::INTERSECT(${inner.text})`, types: inner.types, many: true };
      }
      case 6:
        if (!types.every((name) => name === 'Vine')) return this.graphStep(stream) ?? stream;
        return add(`SearchV<Vine>(${random.pick(vectorTexts)}, ${this.count()})`, true);
      case 7:
        if (random.chance(0.5)) return add('RerankRRF', true);
        if (!types.every((name) => name === 'Vine')) return stream;
        return add(`RerankMMR(lambda: ${random.pick(['0.5', '0.0', '1.0'])})`, true);
      case 8:
      case 9:
      case 10:
        return this.graphStep(stream) ?? stream;
      default:
        return add(`WHERE(${this.condition(types, 2)})`);
    }
  }

  /** What an access path may be chosen for: a whole type, filtered by its own properties, ordered, cut. */
  access(): Stream {
    const { random } = this;
    const { kind, name, properties } = random.pick(this.types);
    const scalars = properties.filter(({ type }) => type !== 'Boolean' && !type.startsWith('['));
    const indexed = scalars.filter(({ index }) => index !== '');
    const pool = indexed.length > 0 && random.chance(0.8) ? indexed : scalars;
    let text = `${kind}<${name}>`;
    if (pool.length === 0) return { text, types: [name], many: true };
    const tests = Array.from({ length: 1 + random.below(3) }, () => {
      const { name: property } = random.pick(random.chance(0.7) ? [pool[0]!] : pool);
      const operator = random.pick(['EQ', 'EQ', 'NEQ', 'GT', 'GTE', 'LT', 'LTE']);
      if (random.chance(0.1)) return this.membership(property, '_');
      const operand = random.chance(0.9)
        ? this.operandOf(property)
        : this.operand(property, [name]);
      return `_::{${property}}::${operator}(${operand})`;
    });
    const junction = random.pick(['AND', 'AND', 'OR']);
    text += `::WHERE(${tests.length === 1 ? tests[0] : `${junction}(${tests.join(', ')})`})`;
    if (random.chance(0.2)) text += `::WHERE(${this.condition([name], 1)})`;
    const key = random.pick(pool).name;
    if (random.chance(0.4)) text += `::ORDER<${random.pick(['Asc', 'Desc'])}>(_::{${key}})`;
    if (random.chance(0.15)) return { text: `${text}::FIRST`, types: [name], many: false };
    if (random.chance(0.3)) text += `::RANGE(${random.below(2)}, ${random.pick(['1', '2', '3'])})`;
    return { text, types: [name], many: true };
  }

  chain(steps: number): Stream {
    let stream = this.random.chance(0.3) ? this.access() : this.source();
    for (let i = this.random.below(steps + 1); i > 0; i--) stream = this.step(stream);
    return stream;
  }

  /** Members of a projection over items of these types. */
  members(types: readonly string[], depth: number, item = '_'): string {
    const { random } = this;
    const names = this.properties(types);
    const parts = random
      .some(names, 0.4)
      .map((name) => (random.chance(0.3) ? `${this.name('m')}: ${name}` : name));
    const extra = (value: string) => parts.push(`${this.name('m')}: ${value}`);
    if (random.chance(0.3)) parts.push('id');
    if (random.chance(0.3)) extra(this.arithmetic(types, 2, item));
    if (random.chance(0.2)) extra(this.condition(types, 1, item));
    if (random.chance(0.2)) extra(random.pick(['"text"', '5', 'true']));
    if (random.chance(0.2)) extra(random.pick([textCall, dateCall])(this, types, item));
    if (random.chance(0.2)) parts.push('label');
    if (types.every((name) => this.type(name).kind !== 'E') && random.chance(0.2))
      parts.push('score');
    if (types.every((name) => name === 'Vine') && random.chance(0.3)) parts.push('data');
    const step = this.graphStep({ text: item, types, many: false });
    if (step && random.chance(0.5)) {
      const whole = { ...step, text: step.text };
      const shape =
        depth > 0 && random.chance(0.4) ? `{${this.members(step.types, depth - 1)}}` : '';
      const tail = shape || random.pick(['ID', 'COUNT', 'FIRST']);
      extra(`${whole.text}::${tail}`);
    }
    if (random.chance(0.15)) extra(`{ inner: ${this.arithmetic(types, 1, item)}, one: 1 }`);
    if (this.variables.length > 0 && random.chance(0.15)) {
      const { text, types: of } = random.pick(this.variables);
      extra(random.chance(0.5) ? text : `${text}::{${this.properties(of)[0] ?? 'id'}}`);
    }
    if (random.chance(0.25)) parts.push('..');
    if (parts.length === 0) parts.push('id');
    return parts.join(', ');
  }

  /** What a query may answer about a stream. */
  answer(stream: Stream): string {
    const { random } = this;
    const { text, types } = stream;
    const names = this.properties(types);
    const name = names.length > 0 ? random.pick(names) : 'id';
    if (stream.hops && random.chance(0.4)) return trailAnswer(this, stream);
    switch (random.below(18)) {
      case 17:
        return bound(this, stream);
      case 16:
        return random.chance(0.5) ? written(this) : pathLength(this);
      case 15:
        return paged(this, stream);
      case 12:
        return shaped(this, stream);
      case 13:
        return `${text}::ID::${random.pick(['DEDUP', 'COUNT', 'FIRST', 'RANGE(0, 2)'])}`;
      case 14:
        return `${random.pick(['SUM', 'AVG', 'MAX'])}([${[1, 2, 3].map(() => this.arithmetic([], 1)).join(', ')}])`;
      case 0:
        return `${text}::COUNT`;
      case 1:
        return `${text}::ID`;
      case 2:
        return `${text}::{${name}}`;
      case 3:
        return `${text}::!{${name}}`;
      case 4:
        return `${text}::|u|{${this.members(types, 1, 'u')}}`;
      case 5:
        if (stream.many) return this.grouped(stream, name);
        return `${text}::{${this.members(types, 1)}}`;
      case 6: {
        const numbers = names.filter((each) => numeric.includes(each));
        if (numbers.length === 0) return text;
        return `${random.pick(['SUM', 'AVG', 'MIN', 'MAX', 'COUNT'])}(${text}::{${random.pick(numbers)}})`;
      }
      case 7:
        return `{ a: ${text}::{${name}}, b: [${text}::COUNT, 1], c: EXISTS(${text}) }`;
      case 8:
      case 9:
        return `${text}::{${this.members(types, 1)}}`;
      default:
        return text;
    }
  }

  grouped({ text, types }: Stream, name: string): string {
    const { random } = this;
    const more = random.some(
      this.properties(types).filter((each) => each !== name),
      0.15,
    );
    const keys = [name, ...more].join(', ');
    if (random.chance(0.4)) return `${text}::AGGREGATE_BY(${keys})`;
    if (random.chance(0.3)) return shapedGroups(this, text, types, keys);
    const tail = random.pick([
      '',
      '',
      '::WHERE(_::{count}::GT(1))',
      '::ORDER<Desc>(_::{count})',
      '::RANGE(0, 2)',
    ]);
    return `${text}::GROUP_BY(${keys})${tail}`;
  }

  /** Values for some properties of a type. */
  assignments(type: WorldType, item: string | undefined): string {
    const { random } = this;
    const parts = random.some(type.properties, 0.5).map(({ name, type: of }) => {
      if (random.chance(0.1)) return `${name}: NONE`;
      if (of === 'Date' && random.chance(0.3)) return `${name}: NOW`;
      const sources = this.variables.filter((v) => this.properties(v.types).includes(name));
      if (sources.length > 0 && random.chance(0.2))
        return `${name}: ${random.pick(sources).text}::{${name}}`;
      if (item !== undefined && integers.includes(name) && random.chance(0.3))
        return `${name}: ADD(${item}::{${name}}, 1)`;
      if (of === 'ID' || random.chance(0.5)) return `${name}: ${this.parameter(of)}`;
      return `${name}: ${random.pick(valueTexts[of]!)}`;
    });
    return `{${parts.join(', ')}}`;
  }
}
