// Compiles sources to a program: reads all files, checks all declarations and queries, and reports all
// diagnostics together. Pure: the same sources give the same program and the same diagnostics.
import { defaultLimits, type Limits } from '../base/limits.js';
import type { Schema } from '../base/schema.js';
import type { Query } from '../plan/plan.js';
import type { Program } from '../plan/program.js';
import type { QueryDeclaration, SourceTree } from './syntax/ast-query.js';
import type { Version } from './syntax/ast-schema.js';
import {
  collectDiagnostics,
  type Collector,
  type Diagnostic,
  type Report,
} from './syntax/diagnostic.js';
import { buildMigrations } from './schema/migration-checker.js';
import { docAbove, writtenAt } from './syntax/doc-comment.js';
import type { CompileCache } from './compile-cache.js';
import { parseFile } from './syntax/parser.js';
import { type CheckOptions, checkQuery } from './query/query-checker.js';
import { buildSchema, type Declared } from './schema/schema-checker.js';
import type { Facts } from './type/semantic-model.js';
import { indexSchema, type SchemaIndex } from './type/schema-index.js';
import { findPosition, readSource, type SourceFile } from './syntax/source-file.js';

export interface Source {
  path: string;
  /** Bytes are read as UTF-8. */
  text: string | Uint8Array;
}

export interface CompileOptions {
  /** `compat = "helix-2"`. */
  compat: boolean;
  limits?: Limits;
  /** Vector types that are divided over several databases. */
  scattered?: ReadonlySet<string>;
  /** Leaves plans exactly as the queries are written, without indexes, for a test oracle. */
  literal?: boolean;
  /** Warns of full scans that can be avoided (W120). */
  slow?: boolean;
  /** Receives the results that an analysis of positions needs. */
  watch?: Watch;
  /** Results of earlier states of the sources. */
  memo?: CompileCache;
  /** Only queries for which this returns true are checked; for callers that need one position. */
  only?: (path: string, declaration: QueryDeclaration) => boolean;
}

/** Receives the results of parsing and checking, even if there is no program in the end. */
export interface Watch {
  facts: Facts;
  /** Called with everything that was parsed; `queries` are those that could be checked. */
  read(sources: readonly ReadSource[], schema: SchemaIndex, queries: readonly Query[]): void;
}

export interface ReadSource {
  file: SourceFile;
  tree: SourceTree;
}

export interface Compilation {
  /** Undefined if there is an error. A warning does not prevent a program. */
  program: Program | undefined;
  /** Ordered by file and position. */
  diagnostics: Diagnostic[];
}

interface ParsedFile extends ReadSource {
  report: Report;
}

/** Compiles all files of a project together, in path order. */
export function compile(sources: readonly Source[], options: CompileOptions): Compilation {
  const { compat, limits = defaultLimits, literal = false, slow = false } = options;
  const { scattered, memo, only } = options;
  const collector = collectDiagnostics();
  const byPath = [...sources].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  const parsed = byPath.map(({ path, text }): ParsedFile => {
    const file = readSource(path, text);
    const parse = (to: Collector) => parseFile(file, limits, to);
    const tree = memo === undefined ? parse(collector) : memo.tree(file, collector, parse);
    return { file, tree, report: collector.in(file) };
  });
  for (const { tree } of parsed) collector.lose(tree.lost);
  const schemas = buildSchemas(parsed, collector, compat);
  const versions = [...schemas.keys()].sort((a, b) => a - b);
  const schema = schemas.get(versions.at(-1)!)!;
  const declared = parsed.flatMap(({ tree, report }) =>
    tree.migrations.map((declaration) => ({ declaration, report })),
  );
  const migrations = buildMigrations(declared, schemas);
  const index = memo === undefined ? indexSchema(schema) : memo.index(schema);
  const facts = options.watch?.facts;
  const checking = { compat, limits, literal, slow, facts, scattered, memo, only };
  if (scattered !== undefined) refuseBeyond(parsed, versions.at(-1)!, scattered);
  const queries = checkQueries(parsed, index, collector, checking);
  options.watch?.read(parsed, index, queries);
  // Unreadable source text may have been a query or a migration.
  const errors = collector.sorted().filter(({ severity }) => severity === 'error');
  if (queries.length === 0 && errors.length === 0) warnEmpty(parsed);
  if (!errors.some(({ code }) => code.startsWith('E0')))
    warnGaps(parsed, versions, new Set(declared.map((d) => d.declaration.from.number)));
  const diagnostics = collector.sorted();
  if (diagnostics.some((diagnostic) => diagnostic.severity === 'error')) {
    return { program: undefined, diagnostics };
  }
  const olderSchemas = versions.slice(0, -1).map((version) => schemas.get(version)!);
  return { program: { schema, olderSchemas, migrations, queries, compat }, diagnostics };
}

/** Returns the schema of every declared version; version 1 if none is declared. */
function buildSchemas(
  parsed: readonly ParsedFile[],
  collector: Collector,
  compat: boolean,
): Map<number, Schema> {
  const declared = new Map<number, Declared[]>();
  const of = (version: Version): Declared[] => {
    const list = declared.get(version.number) ?? [];
    declared.set(version.number, list);
    return list;
  };
  for (const { tree, report } of parsed) {
    for (const version of tree.versions) of(version);
    for (const { version, declaration } of tree.types) of(version).push({ declaration, report });
  }
  if (declared.size === 0) declared.set(1, []);
  const lose = (name: string) => collector.lose([name]);
  const built = [...declared].map(
    ([version, list]) => [version, buildSchema(version, list, { lose, compat })] as const,
  );
  return new Map(built);
}

/** Warns about every older version that no migration starts from. */
function warnGaps(
  parsed: readonly ParsedFile[],
  versions: readonly number[],
  left: ReadonlySet<number>,
): void {
  for (const [at, version] of versions.entries()) {
    const following = versions[at + 1];
    if (following === undefined || left.has(version)) continue;
    const block = (tree: SourceTree) =>
      tree.versions.find((other) => other.number === following) ??
      tree.types.find((type) => type.version.number === following)?.version;
    const position = parsed.find(({ tree }) => block(tree) !== undefined)!;
    const message = `No migration leads from version ${version} to version ${following}.`;
    const hint = `Write \`MIGRATION schema::${version} => schema::${following} { … }\`.`;
    position.report('W113', block(position.tree)!.span, message, hint);
  }
}

/**
 * An edge cannot end at an element of another database, and a shard does not know the values of the others,
 * so UNIQUE cannot be checked.
 */
function refuseBeyond(
  parsed: readonly ParsedFile[],
  newest: number,
  scattered: ReadonlySet<string>,
): void {
  for (const { tree, report } of parsed) {
    for (const { version, declaration } of tree.types) {
      const { kind, name, fields } = declaration;
      const ends = [declaration.from, declaration.to];
      const end = ends.find((one) => one !== undefined && scattered.has(one.text));
      if (end !== undefined) {
        const message = `\`${end.text}\` is scattered: no edge can lead to it.`;
        report('X_SCATTER_HOP', end.span, message, 'Keep the id of the other end as a property.');
      }
      const isHere = kind === 'vector' && version.number === newest && scattered.has(name.text);
      const unique = isHere ? fields.find(({ index }) => index === 'unique') : undefined;
      if (unique === undefined) continue;
      const message = `\`${name.text}\` is scattered: no shard knows the values of the others.`;
      const hint = 'Write `INDEX`, or keep unique values in a type of nodes, with the id.';
      report('X_SCATTER_WRITE', unique.name.span, message, hint);
    }
  }
}

function checkQueries(
  parsed: readonly ParsedFile[],
  schema: SchemaIndex,
  collector: Collector,
  options: CheckOptions & Pick<CompileOptions, 'memo' | 'only'>,
): Query[] {
  const queries: Query[] = [];
  const seen = new Map<string, string>();
  const { facts, memo, only } = options;
  const queriesMax = options.limits.source_queries;
  for (const { file, tree } of parsed) {
    for (const declaration of tree.queries) {
      const { text, span } = declaration.name;
      const report = collector.in(file, text, declaration.lost);
      const other = seen.get(text);
      if (other !== undefined) {
        report('E701', span, `There are two queries \`${text}\`.`, `The other is in ${other}.`);
      }
      seen.set(text, other ?? `${file.path}, line ${findPosition(file, span.start).line}`);
      if (seen.size === queriesMax + 1 && other === undefined) {
        const message = `There are more than ${queriesMax} queries.`;
        report('E005', span, message, 'The limit is `limits.source_queries`.');
      }
      if (seen.size > queriesMax) continue;
      if (only !== undefined && !only(file.path, declaration)) continue;
      const check = (to: Report, model: Facts | undefined) =>
        checkQuery(declaration, schema, to, { ...options, facts: model });
      const query =
        memo === undefined
          ? check(report, facts)
          : memo.checked(declaration, schema, { report, facts }, check);
      if (query === undefined) continue;
      const [doc, written] = [docAbove(file, span.start), writtenAt(file, span.start)];
      warnHard(query, doc, declaration, report);
      queries.push({ ...query, doc, written, file: file.path });
    }
  }
  return queries;
}

/** Hosts of MCP clients cut longer names. */
const toolNameMax = 64;

/** Warns if a valid query is hard to use for an MCP client. */
function warnHard(
  { mcp, plan }: Query,
  doc: string,
  { name, faulty }: QueryDeclaration,
  report: Report,
) {
  if (!mcp || faulty) return;
  if (doc === '') {
    const hint = 'Write what it is for above it, in lines that begin with `//`.';
    report('W121', name.span, `Nothing tells an agent what \`${plan.name}\` is for.`, hint);
  }
  if (plan.name.length > toolNameMax) {
    const message = `The name has ${plan.name.length} characters.`;
    const hint = `Some hosts of agents cut names behind ${toolNameMax} characters.`;
    report('W122', name.span, message, hint);
  }
}

function warnEmpty(parsed: readonly ParsedFile[]): void {
  const [first] = parsed;
  if (first === undefined || parsed.some(({ tree }) => tree.queries.length > 0)) return;
  first.report('W114', { start: 0, end: 0 }, 'These sources hold no query.');
}
