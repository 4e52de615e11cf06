// Handles `POST /_admin/check {sources}`: compiles the sources, and previews what a reload with them would do
// to the served data. Changes nothing. The response is what `trellis check --json` prints.
import {
  type Database,
  type JsonView,
  type Limits,
  type Program,
  type Source,
  checkCompiler,
  describeJson,
  fail,
  scanBody,
} from '../../engine/internal.js';
import type { CheckReport } from '../project/check-report.js';

export interface CheckOptions {
  limits: Limits;
  compat: boolean;
  scattered?: ReadonlySet<string>;
  /** Returns the part of the program that this database has. */
  fit: (program: Program) => Program;
}

/** Maximum bytes of a body. Ten thousand queries are smaller. */
const bodyMax = 8 * 1024 * 1024;

/** Returns the value of the response. */
export async function checkBody(
  database: Database,
  body: Uint8Array,
  { fit: partOf, ...rules }: CheckOptions,
): Promise<CheckReport> {
  if (body.length > bodyMax) {
    const hint = 'Run `trellis check` where the sources are.';
    fail('VALUE_TOO_LARGE', { param: 'sources', size: body.length, max: bodyMax }, { hint });
  }
  const sources = sourcesIn(scanBody(body, rules.limits));
  const { program, diagnostics } = await checkCompiler.check(sources, rules);
  const data = program && (await database.preview(partOf(program)));
  return { diagnostics, ...(data && { data }) };
}

function sourcesIn(body: JsonView): Source[] {
  const list = memberOf(body, 'sources', 'array', '[Object]');
  return Array.from({ length: list.length }, (_, i) => {
    const item = list.at(i);
    if (item.kind !== 'object') refuse(`sources[${i}]`, 'Object', item);
    return {
      path: memberOf(item, 'path', 'string', 'String').text(),
      text: memberOf(item, 'text', 'string', 'String').text(),
    };
  });
}

function memberOf(body: JsonView, param: string, kind: JsonView['kind'], type: string): JsonView {
  const member = body.member(param);
  if (member === undefined) {
    return fail('PARAM_MISSING', { owner: '/_admin/check', param, type }, { path: body.path });
  }
  return member.kind === kind ? member : refuse(param, type, member);
}

function refuse(param: string, type: string, view: JsonView): never {
  return fail('PARAM_TYPE', { param, type, got: describeJson(view) }, { path: view.path });
}
