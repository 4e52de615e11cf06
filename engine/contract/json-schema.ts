// Prints types as JSON Schema 2020-12: parameters as the decoder accepts them, replies as they are printed.
// Element types are named once, under `refs`, and referenced.
// Invariant: the decoder does not reject a value for its type if the schema of the parameters accepts it.
import type { ObjectMember, ParameterType, ScalarName, Schema, TypeRef } from '../base/schema.js';
import type { OutputMember, OutputType, ReplyType } from '../plan/output-type.js';
import { defaultTexts, mayBeAbsent } from '../plan/default-text.js';
import type { Plan } from '../plan/plan.js';
import { type ElementForm, elementMembers, visibleHit } from './element-shape.js';
import { type Bound, findBounds } from './query-facts.js';
import { TypeNames } from './type-name.js';
import type { CallSignature } from './signature.js';
import { isWideInteger } from './wide-integer.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface SchemaStyle {
  /** Prefix of references to named types, for example `#/$defs/`. */
  refs: string;
  /** Integers beyond 53 bits are texts in replies, because JavaScript readers would round them. */
  wideAsText: boolean;
  /** Names that types must not take. */
  taken?: readonly string[];
}

const small: Partial<Record<ScalarName, [min: number, max: number]>> = {
  I8: [-128, 127],
  I16: [-32_768, 32_767],
  I32: [-2_147_483_648, 2_147_483_647],
  U8: [0, 255],
  U16: [0, 65_535],
  U32: [0, 4_294_967_295],
};

/** Digits of any integer, of one that is not negative, and of one above 0. */
const digits = '^-?(0|[1-9][0-9]*)$';
const natural = '^(0|[1-9][0-9]*)$';
const positive = '^[1-9][0-9]*$';

/** Dates as text; a pattern cannot check the number of days in a month. */
const day = '[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])';
const time = '([01][0-9]|2[0-3]):[0-5][0-9]';
const date = `^${day}([Tt]${time}:[0-5][0-9](\\.[0-9]{1,9})?([Zz]|[+-]${time}))?$`;

/** A UUID as text. */
const uuid = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

/**
 * The type of integers beyond 53 bits: either form that the decoder accepts, or one of them. Hosts of models
 * refuse a list of types, a union with null, and formats of texts other than `date-time`. So each value has
 * one type then, and a member that may be absent is only left out of `required`.
 */
export type WideInput = 'both' | 'string' | 'integer';

/** Returns the schema of a scalar that is sent. */
function inputScalar(name: ScalarName, wide: WideInput): JsonSchema {
  const range = small[name];
  if (range !== undefined) return { type: 'integer', minimum: range[0], maximum: range[1] };
  switch (name) {
    case 'String':
      return { type: 'string' };
    case 'ID':
      return wide === 'both'
        ? { type: 'string', format: 'uuid' }
        : { type: 'string', pattern: uuid };
    case 'Boolean':
      return { type: 'boolean' };
    case 'Json':
      return wide === 'both' ? {} : { type: 'object' };
    case 'Date':
      return wide === 'both'
        ? {
            type: ['string', 'integer'],
            pattern: date,
            description: 'RFC 3339, a day such as 2026-03-01, or seconds since 1970.',
          }
        : { type: 'string', pattern: date, description: 'RFC 3339, or a day such as 2026-03-01.' };
    case 'F32':
    case 'F64':
      return { type: 'number' };
    default:
      return wideInteger(name, wide);
  }
}

function wideInteger(name: ScalarName, wide: WideInput): JsonSchema {
  const isNatural = name.startsWith('U');
  const pattern = isNatural ? natural : digits;
  if (wide === 'string') return { type: 'string', pattern };
  const number = { ...widthFormat(name), ...(isNatural && { minimum: 0 }) };
  if (wide === 'integer') return { type: 'integer', ...number };
  return { type: ['integer', 'string'], ...number, pattern };
}

/** Returns the schema of a number for a step, whose range may be smaller than that of its type. */
function boundScalar(
  name: ScalarName,
  bound: Bound,
  wide: WideInput,
  searchMax?: number,
): JsonSchema {
  const schema = inputScalar(name, wide);
  const isK = bound === 'k';
  const max = isK ? searchMax : undefined;
  const own = small[name]?.[1];
  const maximum = max === undefined ? own : Math.min(max, own ?? max);
  const text = isK ? positive : natural;
  return {
    ...schema,
    ...(schema.type !== 'string' && {
      minimum: isK ? 1 : 0,
      ...(maximum !== undefined && { maximum }),
    }),
    ...(schema.pattern !== undefined && {
      pattern: max === undefined ? text : digitsUpTo(max),
    }),
  };
}

/** Returns a pattern for the digits of 1 to `max`. */
function digitsUpTo(max: number): string {
  const all = String(max);
  const shorter = all.length > 1 ? [`[1-9][0-9]{0,${all.length - 2}}`] : [];
  // Numbers with the same number of digits, in which the first different digit is smaller.
  const less = [...all].flatMap((digit, at) => {
    const first = at === 0 ? 1 : 0;
    const rest = all.length - at - 1;
    if (Number(digit) <= first) return [];
    return [`${all.slice(0, at)}[${first}-${Number(digit) - 1}]${'[0-9]'.repeat(rest)}`];
  });
  return `^(${[...shorter, ...less, all].join('|')})$`;
}

/** A 128-bit integer gets no format: a generator would turn int64 into a type that rounds or rejects. */
const widthFormat = (name: ScalarName | 'Integer'): JsonSchema =>
  name === 'I64' || name === 'U64' ? { format: 'int64' } : {};

function inputType(type: ParameterType, wide: WideInput): JsonSchema {
  if (type.kind === 'scalar') return inputScalar(type.name, wide);
  if (type.kind === 'list') return { type: 'array', items: inputType(type.of, wide) };
  return inputObject(type.members, { wide });
}

export interface InputStyle {
  /** Descriptions of parameters in the doc comment. */
  about?: ReadonlyMap<string, string> | undefined;
  /** Maximum number of results of a search. */
  searchMax?: number | undefined;
  /** Default `both`. */
  wide?: WideInput;
}

interface Known extends InputStyle {
  /** Bounds of members that steps require. */
  bounds?: ReadonlyMap<string, Bound>;
}

function inputObject(
  members: readonly ObjectMember[],
  { about, bounds, searchMax, wide = 'both' }: Known,
): JsonSchema {
  const properties = members.map((member) => {
    const { name, type } = member;
    const defaultText = defaultTexts([member])?.[name];
    const text = about?.get(name);
    const bound = bounds?.get(name);
    const isAny = type.kind === 'scalar' && type.name === 'Json';
    const schema = {
      ...(type.kind === 'scalar' && bound !== undefined
        ? boundScalar(type.name, bound, wide, searchMax)
        : inputType(type, wide)),
      ...(text !== undefined && { description: text }),
      ...(defaultText !== undefined &&
        defaultText !== 'NOW' && { default: parseDefault(defaultText) }),
    };
    const isUnion = wide === 'both' && mayBeAbsent(member) && !isAny;
    return [name, isUnion ? { anyOf: [schema, { type: 'null' }] } : schema] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: members.filter((member) => !mayBeAbsent(member)).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** Returns the schema of a call's body. */
export const parametersSchema = (
  plan: Plan | CallSignature,
  style: InputStyle = {},
): JsonSchema => {
  const bounds = 'bounds' in plan ? plan.bounds : findBounds(plan);
  return inputObject(plan.parameters, { ...style, bounds });
};

/**
 * Returns a default as JSON. An integer that JSON.parse would round is given as its digits, which are
 * accepted too.
 */
function parseDefault(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
    ? text
    : value;
}

/** Prints replies, and collects the element types that they reference. */
export class ReplySchemas {
  /** Referenced types, in order of first use. */
  readonly named = new Map<string, JsonSchema>();
  readonly #names: TypeNames;
  readonly #mentioned = new Set<string>();
  /** Names in `named` by kind and form. The name of a form may collide with that of another type. */
  readonly #namesByForm = new Map<string, string>();
  /** A type object that several queries share is printed once. */
  readonly #printed = new Map<OutputType | ReplyType, JsonSchema>();

  constructor(
    private readonly schema: Schema,
    private readonly style: SchemaStyle,
  ) {
    this.#names = new TypeNames(schema);
  }

  reply(type: ReplyType): JsonSchema {
    if ('bare' in type) return this.#print(type.bare);
    return this.#memoized(type, () => this.#object(type.members));
  }

  #print(type: OutputType): JsonSchema {
    return this.#memoized(type, () => this.#buildSchema(type));
  }

  #memoized<T extends OutputType | ReplyType>(type: T, print: () => JsonSchema): JsonSchema {
    const known = this.#printed.get(type);
    if (known !== undefined) return known;
    const schema = print();
    this.#printed.set(type, schema);
    return schema;
  }

  #buildSchema(type: OutputType): JsonSchema {
    switch (type.kind) {
      case 'unknown':
        return {};
      case 'literal':
        return { const: typeof type.value === 'bigint' ? String(type.value) : type.value };
      case 'nullable':
        return orNull(this.#print(type.of));
      case 'list':
        return { type: 'array', items: this.#print(type.of) };
      case 'map':
        return { type: 'object', additionalProperties: this.#print(type.of) };
      case 'union':
        return { anyOf: type.of.map((one) => this.#print(one)) };
      case 'record':
        return this.#object(type.members);
      case 'element': {
        const refs = type.types.map((ref) => this.#ref(ref, type));
        return refs.length === 1 ? refs[0]! : { oneOf: refs };
      }
      case 'scalar':
        return this.#scalar(type.name);
    }
  }

  #object(members: readonly OutputMember[]): JsonSchema {
    return {
      type: 'object',
      properties: Object.fromEntries(members.map(({ name, type }) => [name, this.#print(type)])),
      required: members.filter(({ optional }) => !optional).map(({ name }) => name),
      additionalProperties: false,
    };
  }

  #ref(ref: TypeRef, form: ElementForm): JsonSchema {
    const plain = formName(this.#names.of(ref), ref, form);
    this.#mentioned.add(`${ref.kind} ${ref.name}`);
    const key = `${ref.kind} ${ref.name} ${plain}`;
    let name = this.#namesByForm.get(key);
    if (name === undefined) {
      name = plain;
      while (this.named.has(name) || this.style.taken?.includes(name)) name += '_';
      this.#namesByForm.set(key, name);
      this.named.set(name, this.#object(elementMembers(this.schema, ref, form)));
    }
    return { $ref: `${this.style.refs}${name}` };
  }

  /** Returns true if a type was referenced, in any form. */
  mentions({ kind, name }: TypeRef): boolean {
    return this.#mentioned.has(`${kind} ${name}`);
  }

  /** Adds every type in its plain form. */
  nameAll(): void {
    const { nodes, edges, vectors } = this.schema;
    for (const { kind, name } of [...nodes, ...edges, ...vectors]) {
      this.#ref({ kind, name }, { hit: 'none', data: false });
    }
  }

  #scalar(name: ScalarName | 'Integer'): JsonSchema {
    if (name === 'Date') return { type: 'string', format: 'date-time' };
    if (!isWideInteger(name)) return inputScalar(name as ScalarName, 'both');
    if (this.style.wideAsText) return { type: ['integer', 'string'], pattern: digits };
    return { type: 'integer', ...widthFormat(name) };
  }
}

/** Returns the name of one form of an element; the plain form has the name of the type. */
export function formName(name: string, ref: TypeRef, form: ElementForm): string {
  const { kind } = ref;
  const hits = { none: '', vector: '_hit', text: '_match', reranked: '_ranked', mixed: '_found' };
  const found =
    kind === 'edge' ? '' : `${hits[visibleHit(ref, form)]}${form.hops ? '_reached' : ''}`;
  return `${name}${found}${form.data && kind === 'vector' ? '_data' : ''}`;
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  // A schema without a keyword accepts everything.
  if (Object.keys(schema).length === 0) return schema;
  if (typeof type === 'string' && !('const' in schema)) return { ...schema, type: [type, 'null'] };
  if (Array.isArray(type)) return { ...schema, type: [...(type as string[]), 'null'] };
  return { anyOf: [schema, { type: 'null' }] };
}
