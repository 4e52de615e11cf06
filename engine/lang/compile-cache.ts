// Caches the results of earlier compilations. An editor compiles a project at every keystroke, when one query
// changes. Unchanged files are not parsed again, and unchanged queries at the same position are not checked
// again.
// Invariant: the result equals that of compiling without the cache, including every diagnostic. One cache is
// for one set of options.
import { isDeepStrictEqual } from 'node:util';
import type { Schema } from '../base/schema.js';
import type { Query } from '../plan/plan.js';
import type { QueryDeclaration, SourceTree } from './syntax/ast-query.js';
import type { Collector, Report } from './syntax/diagnostic.js';
import type { SourceFile } from './syntax/source-file.js';
import { SemanticModel, type Facts } from './type/semantic-model.js';
import { indexSchema, type SchemaIndex } from './type/schema-index.js';

interface ReadFile {
  file: SourceFile;
  tree: SourceTree;
  /** Reports made while the file was parsed, to be repeated. */
  reports: ((to: Collector) => void)[];
}

interface Checked {
  schema: SchemaIndex;
  query: Query | undefined;
  facts: SemanticModel;
  reports: Parameters<Report>[];
}

export class CompileCache {
  readonly #files: Map<string, ReadFile>;
  readonly #checked = new WeakMap<QueryDeclaration, Checked>();
  #schema: SchemaIndex | undefined;

  constructor(files: Iterable<[string, ReadFile]> = []) {
    this.#files = new Map(files);
  }

  /**
   * Returns a copy for a state of the sources that no other state follows. Its results are discarded with the
   * copy.
   */
  copy(): CompileCache {
    return new CompileCache(this.#files);
  }

  /** Returns the tree of a file; calls `parse` unless it is cached. */
  tree(
    file: SourceFile,
    collector: Collector,
    parse: (collector: Collector) => SourceTree,
  ): SourceTree {
    const before = this.#files.get(file.path);
    if (before?.file.text === file.text && before.file.bytes === file.bytes) {
      for (const repeat of before.reports) repeat(collector);
      return before.tree;
    }
    const reports: ReadFile['reports'] = [];
    const tree = parse(recorded(collector, reports));
    if (before !== undefined) keepSame(tree, file.text, before);
    this.#files.set(file.path, { file, tree, reports });
    return tree;
  }

  /** Returns the index of a schema, or the cached one if the schema is unchanged. */
  index(schema: Schema): SchemaIndex {
    if (!isDeepStrictEqual(this.#schema?.schema, schema)) this.#schema = indexSchema(schema);
    return this.#schema!;
  }

  /** Returns the result of a query; calls `check` unless it is cached. */
  checked(
    declaration: QueryDeclaration,
    schema: SchemaIndex,
    to: { report: Report; facts: Facts | undefined },
    check: (report: Report, facts: Facts) => Query | undefined,
  ): Query | undefined {
    let found = this.#checked.get(declaration);
    if (found?.schema === schema) for (const words of found.reports) to.report(...words);
    else {
      const reports: Checked['reports'] = [];
      const report: Report = (...words) => {
        reports.push(words);
        to.report(...words);
      };
      const facts = new SemanticModel();
      found = { schema, query: check(report, facts), facts, reports };
      this.#checked.set(declaration, found);
    }
    if (to.facts !== undefined) found.facts.replay(to.facts);
    return found.query;
  }
}

/** Returns a collector whose reports are recorded in `reports`. */
function recorded(collector: Collector, reports: ReadFile['reports']): Collector {
  return {
    ...collector,
    in: (...position) => {
      const report = collector.in(...position);
      return (...words) => {
        reports.push((to) => to.in(...position)(...words));
        report(...words);
      };
    },
  };
}

/** Replaces declarations by those of `before` that have the same text at the same position. */
function keepSame(tree: SourceTree, text: string, before: ReadFile): void {
  const known = new Map(before.tree.queries.map((each) => [each.name.span.start, each]));
  tree.queries = tree.queries.map((each) => {
    const { start, end } = each.span;
    const old = known.get(each.name.span.start);
    if (old?.span.start !== start || old.span.end !== end) return each;
    const isSame = before.file.text.slice(start, end) === text.slice(start, end);
    return isSame && isWhole(old) && isWhole(each) ? old : each;
  });
}

/** Unreadable parts leave marks that do not depend on the text of the query alone. */
const isWhole = ({ faulty, lost }: QueryDeclaration): boolean => !faulty && !lost?.size;
