// What callers rely on, as short hashes: one per fact about a query or a type. A generated module carries
// those of its program, and whoever calls compares them with the program in force. Invariant: what is
// only added leaves every fact there was, so that an addition is no difference.
import { hash } from 'node:crypto';
import type { ElementType, ParameterType, TypeRef } from '../base/schema.js';
import { mayBeAbsent } from '../plan/default-text.js';
import type { OutputType } from '../plan/output-type.js';
import type { Query } from '../plan/plan.js';
import type { Program } from '../plan/program.js';

/** Hashes of four characters, one behind the other, by `worksOf` and `N::Work`. */
export type Contract = Readonly<Record<string, string>>;

/** `sees`: which queries the one who is told of it may call; `knows`: which types their answers show. */
export function contractOf(
  { schema, queries }: Pick<Program, 'schema' | 'queries'>,
  sees: (query: string) => boolean = () => true,
  knows: (type: TypeRef) => boolean = () => true,
): Contract {
  const { nodes, edges, vectors } = schema;
  const types = [...nodes, ...edges, ...vectors]
    .filter(knows)
    .map((type) => [`${letters[type.kind]}::${type.name}`, typeFacts(type)] as const);
  const called = queries
    .filter(({ name }) => sees(name))
    .map((query) => [query.name, queryFacts(query)] as const);
  const hashes = new Map<string, string>();
  const hashOf = (fact: string): string => {
    const known = hashes.get(fact);
    if (known !== undefined) return known;
    const made = hash('sha256', fact, 'base64url').slice(0, 4);
    hashes.set(fact, made);
    return made;
  };
  return Object.fromEntries(
    [...called, ...types].map(([name, facts]) => [name, facts.map(hashOf).join('')]),
  );
}

const letters = { node: 'N', edge: 'E', vector: 'V' } as const;

const typeFacts = ({ properties }: ElementType): string[] => [
  'there',
  ...properties.map(({ name, type }) => `${name}: ${textOf(type)}`),
];

function queryFacts({ plan, output }: Query): string[] {
  const { parameters, writes } = plan;
  const required = parameters.filter((one) => !mayBeAbsent(one)).map(({ name }) => name);
  const facts = [
    `writes ${writes}`,
    `needs ${required.sort().join()}`,
    ...parameters.map(({ name, type }) => `takes ${name}: ${textOf(type)}`),
  ];
  addAnswers('bare' in output ? output.bare : { kind: 'record', ...output }, 'answers', facts);
  return facts;
}

/** Types may share their parts, and hold one twice, many times over: what lies behind is one fact. */
const factsMax = 256;

function addAnswers(type: OutputType, path: string, facts: string[]): void {
  if (facts.length >= factsMax) facts.push(`${path}: ${type.kind}`);
  else if (type.kind === 'record') {
    for (const { name, type: of, optional } of type.members) {
      if (facts.length > factsMax) return;
      addAnswers(of, `${path} ${JSON.stringify(name)}${optional ? '?' : ''}`, facts);
    }
  } else if (type.kind === 'union') {
    for (const [at, one] of type.of.entries()) addAnswers(one, `${path} ${at}`, facts);
  } else if (type.kind === 'list' || type.kind === 'map' || type.kind === 'nullable') {
    addAnswers(type.of, `${path} ${type.kind}`, facts);
  } else facts.push(`${path}: ${textOf(type)}`);
}

/** Of what has no parts of its own; members of elements are facts of their types. */
const textOf = (type: OutputType | ParameterType): string =>
  type.kind === 'scalar' ? JSON.stringify(type) : JSON.stringify(type, withWide);

const withWide = (_: string, part: unknown): unknown =>
  typeof part === 'bigint' ? `${part}n` : part;
