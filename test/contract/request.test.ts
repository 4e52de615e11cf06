// Compares the schemas of requests in `/openapi.json` with every call of the conformance cases, whose
// responses come from a real server. Accepted requests match the schema; requests that are refused because of
// their shape do not.
import Schema from 'typebox/schema';
import { expect, test } from 'vitest';
import type { JsonSchema } from '../../engine/contract/json-schema.js';
import { buildOpenApi } from '../../engine/contract/openapi.js';
import { compile } from '../../engine/lang/compile.js';
import { type Case, caseFiles, readCases } from '../support/corpus/case.js';
import { type ExactObject, plainOf } from '../support/corpus/exact-json.js';
import { bodyOf } from '../support/corpus/step.js';

const uuid = '00000000-0000-7000-8000-000000000001';
/** Whatever a case has saved before is an id. */
const saved = { get: () => uuid, has: () => true } as unknown as Map<string, string>;

interface Known {
  schema: JsonSchema;
  /** Parameters that a call has to give. */
  needed: string[];
}

/** The schema of each query's body. */
function bodySchemas(one: Case): Map<string, Known> {
  const text = [one.schema, one.shared, one.queries].join('\n');
  const compat = one.config.compat === 'helix-2';
  const { program } = compile([{ path: 'a.hx', text }], { compat });
  if (program === undefined) return new Map();
  const options = { title: 'x', version: '1', keys: false, sees: () => true };
  // biome-ignore lint/suspicious/noExplicitAny: a document is read as callers read it
  const { paths } = buildOpenApi(program, options) as any;
  return new Map(
    program.queries.map(({ name, plan }) => {
      const { content } = paths[`/${name}`].post.requestBody;
      const given = plan.parameters.filter((one) => !one.optional && one.default === undefined);
      const needed = given.map(({ name }) => name);
      return [name, { schema: content['application/json'].schema, needed }];
    }),
  );
}

const codeOf = (step: ExactObject): unknown =>
  ((step.get('expect') ?? new Map()) as ExactObject).get('code');

const shapeCodes = new Set(['PARAM_TYPE', 'PARAM_MISSING']);

/** What the server is known to answer: nothing where a case leaves it open. */
function outcomeOf(step: ExactObject): 'taken' | 'refused' | undefined {
  const expected = (step.get('expect') ?? new Map()) as ExactObject;
  const code = codeOf(step);
  // Whether a number is too large for a step is found out later: that is no matter of shape.
  if (typeof code === 'string') return shapeCodes.has(code) ? 'refused' : undefined;
  const status = plainOf(expected.get('status') ?? null);
  return status === null || status === 200 ? 'taken' : undefined;
}

interface Call {
  at: string;
  schema: JsonSchema;
  body: Record<string, unknown>;
  outcome: 'taken' | 'refused';
}

function callsOf(one: Case): Call[] {
  const schemas = bodySchemas(one);
  return one.steps.flatMap((step) => {
    const path = step.get('post');
    const name = typeof path === 'string' ? path.replace(/^\//, '').split('?')[0]! : '';
    const known = schemas.get(name);
    const outcome = outcomeOf(step);
    if (known === undefined || outcome === undefined) return [];
    const { schema, needed } = known;
    const text = bodyOf(step, { saved } as never)?.toString() ?? '';
    let body: unknown;
    try {
      body = text === '' ? {} : JSON.parse(text);
    } catch {
      return [];
    }
    // To a schema 1.0 is an integer; the server takes digits only.
    if (/\d(\.0+|e\d+)\b/i.test(text)) return [];
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return [];
    // A value that may be left out, though a step needs it: the types of parameters do not say so.
    const isComplete = needed.every((one) => Object.hasOwn(body as object, one));
    if (codeOf(step) === 'PARAM_MISSING' && isComplete) return [];
    // Which days a month has is beyond a schema.
    if (/-02-30/.test(text)) return [];
    return [{ at: `${one.id} ${name} ${text.slice(0, 200)}`, schema, outcome, body: { ...body } }];
  });
}

/** By default, a server ignores members that are no parameters, at any depth. */
const lenient = (schema: JsonSchema): JsonSchema =>
  JSON.parse(
    JSON.stringify(schema, (name, value) => (name === 'additionalProperties' ? undefined : value)),
  );

test.each(['http', 'language'])('P08 requests of the cases of %s', (folder) => {
  const cases = caseFiles(folder).flatMap((path) => readCases(path));
  const isLong = process.env.TRELLIS_TEST_LONG === '1' || folder === 'http';
  const calls = cases.filter((_, at) => isLong || at % 4 === 0).flatMap(callsOf);
  const faults: string[] = [];
  const seen = { taken: 0, refused: 0 };
  for (const call of calls) {
    seen[call.outcome]++;
    const isOf = Schema.Check(lenient(call.schema), call.body);
    if (isOf !== (call.outcome === 'taken')) faults.push(`${call.outcome}: ${call.at}`);
  }
  expect(faults).toEqual([]);
  expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(3);
});
