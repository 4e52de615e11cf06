// Compiles an ad-hoc query: a chain, a body or a whole `QUERY`, checked against a compiled schema. Positions
// are those of the given text. The parts that a short form omits are inserted as tokens, not as characters.
import type { Limits } from '../base/limits.js';
import type { Schema } from '../base/schema.js';
import type { Query } from '../plan/plan.js';
import { checkQuery } from './query/query-checker.js';
import type { SourceTree } from './syntax/ast-query.js';
import { collectDiagnostics, type Diagnostic, type Report } from './syntax/diagnostic.js';
import type { Token } from './syntax/lexer.js';
import { parseFile } from './syntax/parser.js';
import { readSource } from './syntax/source-file.js';
import { indexSchema } from './type/schema-index.js';

/** Name of the text in diagnostics. */
const adHocPath = 'query';

export interface AdHocCompilation {
  /** Undefined if there is an error. */
  query: Query | undefined;
  diagnostics: Diagnostic[];
}

export function compileAdHoc(
  text: string,
  schema: Schema,
  { compat, limits }: { compat: boolean; limits: Limits },
): AdHocCompilation {
  const collector = collectDiagnostics();
  const file = readSource(adHocPath, text);
  const tree = parseFile(file, limits, collector, leftOut);
  const report = collector.in(file);
  refuseOthers(tree, report);
  const [declaration] = tree.queries;
  const query =
    declaration &&
    checkQuery(declaration, indexSchema(schema), collector.in(file, undefined, declaration.lost), {
      compat,
      limits,
      literal: false,
    });
  if (declaration === undefined) report('E001', { start: 0, end: 0 }, 'There is no query.');
  const diagnostics = collector.sorted();
  const isFaulty = diagnostics.some(({ severity }) => severity === 'error');
  return { query: isFaulty ? undefined : query, diagnostics };
}

const at = (kind: Token['kind'], text: string): Token => ({ kind, text, start: 0, end: 0 });
const header = [
  at('name', 'QUERY'),
  at('name', 'query'),
  at('symbol', '('),
  at('symbol', ')'),
  at('symbol', '=>'),
];

/** Returns the omitted tokens: the header of a body, and for a chain also `RETURN`. */
function leftOut(tokens: readonly Token[]): Token[] {
  const [first, second] = tokens;
  if (first!.kind === 'end' || first!.text === 'QUERY' || first!.text === '#') return [];
  const isBody =
    tokens.some(({ kind, text }) => kind === 'name' && text === 'RETURN') ||
    second?.text === '<-' ||
    (first!.kind === 'name' && /^(DROP|FOR)$/.test(first!.text) && second!.text !== '::');
  return isBody ? header : [...header, at('name', 'RETURN')];
}

function refuseOthers({ types, versions, migrations, queries }: SourceTree, report: Report): void {
  const others = [
    ...types.map(({ declaration }) => declaration.name.span),
    ...versions.map(({ span }) => span),
    ...migrations.map(({ from }) => from.span),
    ...queries.slice(1).map(({ name }) => name.span),
  ];
  for (const span of others) report('E001', span, 'Only one query stands here.');
}
