// Checks whether a reply of an MCP tool matches the schema of the tool. The schema is printed from the
// query's type, and a separate validator checks it.
import Schema from 'typebox/schema';
import { findDecodePaths } from '../../engine/contract/decode-path.js';
import type { Query } from '../../engine/plan/plan.js';
import type { Program } from '../../engine/plan/program.js';
import { outputOf } from '../../server/mcp/tool/output.js';
import { replySchema } from '../../server/mcp/tool/query-tool.js';

type Validator = ReturnType<typeof Schema.Compile>;

/** Made once per query. */
const validators = new WeakMap<Query, Validator | 'none'>();

function validatorOf(query: Query, program: Program): Validator | 'none' {
  const known = validators.get(query);
  if (known !== undefined) return known;
  const schema = replySchema(query, program);
  const made = schema === undefined ? 'none' : Schema.Compile(schema);
  validators.set(query, made);
  return made;
}

/** Where the reply is not of the tool's schema; undefined: nowhere. */
export function toolMismatch(query: Query, body: string, program: Program): string | undefined {
  const validator = validatorOf(query, program);
  if (validator === 'none') return undefined;
  const places = findDecodePaths(program.schema, query.output, { int64: 'string', dates: false });
  for (const limit of [Number.MAX_SAFE_INTEGER, Math.ceil(body.length / 2)]) {
    const { members } = outputOf(body, { limit, widePaths: places, advice: '' });
    const { structuredContent } = JSON.parse(`{${members}}`);
    if (!validator.Check(structuredContent)) {
      const [, faults] = validator.Errors(structuredContent);
      return `${JSON.stringify(structuredContent)}: ${JSON.stringify(faults[0])}`;
    }
  }
  return undefined;
}
