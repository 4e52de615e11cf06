// Short hashes of the facts that callers depend on, one for each fact about a query or a type. A generated
// module contains those of its program, and the caller compares them with the current program.
// Invariant: an addition keeps every existing fact, so it is not a difference.
import { hash } from 'node:crypto';
import type { ElementType, ParameterType, Schema, TypeRef } from '../base/schema.js';
import { mayBeAbsent } from '../plan/default-text.js';
import type { OutputType, ReplyType } from '../plan/output-type.js';
import type { Parameter } from '../plan/plan.js';

const hashChars = 4;

/** A query or its signature. */
interface Called {
  name: string;
  plan: { parameters: readonly Parameter[]; writes: boolean };
  output: ReplyType;
}

/** Concatenated hashes of four characters each, by name: `worksOf` or `N::Work`. */
export type Contract = Readonly<Record<string, string>>;

/**
 * `sees` returns true for queries that the receiver may call; `knows` for types that their replies contain.
 */
export function computeContract(
  { schema, queries }: { schema: Schema; queries: readonly Called[] },
  sees: (query: string) => boolean = () => true,
  knows: (type: TypeRef) => boolean = () => true,
): Contract {
  const { nodes, edges, vectors } = schema;
  const hashOf = hashing();
  const hashesOf = (facts: readonly string[]): string => facts.map(hashOf).join('');
  const taken = memoize((plan: Called['plan']) => hashesOf(planFacts(plan)));
  /** Hash functions by the number of facts that precede those of the reply: the total number is limited. */
  const replyHashes: ((output: ReplyType) => string)[] = [];
  const replyHashesAfter = (count: number): ((output: ReplyType) => string) =>
    (replyHashes[count] ??= memoize((output) => hashesOf(answerFacts(output, factsMax - count))));
  const types = [...nodes, ...edges, ...vectors]
    .filter(knows)
    .map((type) => [`${letters[type.kind]}::${type.name}`, hashesOf(typeFacts(type))] as const);
  const called = queries
    .filter(({ name }) => sees(name))
    .map(({ name, plan, output }) => {
      const before = taken(plan);
      return [name, before + replyHashesAfter(before.length / hashChars)(output)] as const;
    });
  return Object.fromEntries([...called, ...types]);
}

/** Caches the result of `make` by object. */
function memoize<T extends object>(make: (part: T) => string): (part: T) => string {
  const made = new Map<T, string>();
  return (part) => {
    const known = made.get(part) ?? make(part);
    made.set(part, known);
    return known;
  };
}

function hashing(): (fact: string) => string {
  const hashes = new Map<string, string>();
  return (fact) => {
    const known = hashes.get(fact);
    if (known !== undefined) return known;
    const made = hash('sha256', fact, 'base64url').slice(0, hashChars);
    hashes.set(fact, made);
    return made;
  };
}

const letters = { node: 'N', edge: 'E', vector: 'V' } as const;

const typeFacts = ({ properties }: ElementType): string[] => [
  'there',
  ...properties.map(({ name, type }) => `${name}: ${printPart(type)}`),
];

function planFacts({ parameters, writes }: Called['plan']): string[] {
  const required = parameters.filter((one) => !mayBeAbsent(one)).map(({ name }) => name);
  return [
    `writes ${writes}`,
    `needs ${required.sort().join()}`,
    ...parameters.map(({ name, type }) => `takes ${name}: ${printPart(type)}`),
  ];
}

/** Types may share parts and contain one many times. The facts beyond this number are combined into one. */
const factsMax = 256;

function answerFacts(output: ReplyType, max: number): string[] {
  const facts: string[] = [];
  addAnswers('bare' in output ? output.bare : { kind: 'record', ...output }, 'answers', facts, max);
  return facts;
}

function addAnswers(type: OutputType, path: string, facts: string[], max: number): void {
  if (facts.length >= max) facts.push(`${path}: ${type.kind}`);
  else if (type.kind === 'record') {
    for (const { name, type: of, optional } of type.members) {
      if (facts.length > max) return;
      addAnswers(of, `${path} ${JSON.stringify(name)}${optional ? '?' : ''}`, facts, max);
    }
  } else if (type.kind === 'union') {
    for (const [at, one] of type.of.entries()) addAnswers(one, `${path} ${at}`, facts, max);
  } else if (type.kind === 'list' || type.kind === 'map' || type.kind === 'nullable') {
    addAnswers(type.of, `${path} ${type.kind}`, facts, max);
  } else facts.push(`${path}: ${printPart(type)}`);
}

/** Returns the text of a type without parts; members of elements are facts of their types. */
const printPart = (type: OutputType | ParameterType): string =>
  type.kind === 'scalar' ? JSON.stringify(type) : JSON.stringify(type, withWide);

const withWide = (_: string, part: unknown): unknown =>
  typeof part === 'bigint' ? `${part}n` : part;
