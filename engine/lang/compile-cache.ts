// What was found of sources before. An editor has a project compiled at every key, where one query of it
// is another than it was: files that are the same are not parsed again, and queries that are the same and
// stand where they stood are not checked again. Invariant: what comes of it is what compiling without it
// gives, to the last diagnostic. One memo is for one set of options.
import { isDeepStrictEqual } from 'node:util';
import type { Schema } from '../base/schema.js';
import type { Query } from '../plan/plan.js';
import type { QueryDeclaration, SourceTree } from './syntax/ast-query.js';
import type { Collector, Report } from './syntax/diagnostic.js';
import type { SourceFile } from './syntax/source.js';
import { SemanticModel, type Facts } from './type/semantic-model.js';
import { indexSchema, type SchemaIndex } from './type/schema-index.js';

interface ReadFile {
  file: SourceFile;
  tree: SourceTree;
  /** What was reported while it was parsed, to be reported again. */
  said: ((to: Collector) => void)[];
}

interface Checked {
  schema: SchemaIndex;
  query: Query | undefined;
  facts: SemanticModel;
  said: Parameters<Report>[];
}

export class CompileCache {
  readonly #files: Map<string, ReadFile>;
  readonly #checked = new WeakMap<QueryDeclaration, Checked>();
  #schema: SchemaIndex | undefined;

  constructor(files: Iterable<[string, ReadFile]> = []) {
    this.#files = new Map(files);
  }

  /** For a state of the sources that none will follow: what is found of it goes with the copy. */
  copy(): CompileCache {
    return new CompileCache(this.#files);
  }

  /** The tree of a file, by `parse` unless it is known. */
  tree(
    file: SourceFile,
    collector: Collector,
    parse: (collector: Collector) => SourceTree,
  ): SourceTree {
    const before = this.#files.get(file.path);
    if (before?.file.text === file.text && before.file.bytes === file.bytes) {
      for (const say of before.said) say(collector);
      return before.tree;
    }
    const said: ReadFile['said'] = [];
    const tree = parse(recorded(collector, said));
    if (before !== undefined) keepSame(tree, file.text, before);
    this.#files.set(file.path, { file, tree, said });
    return tree;
  }

  /** The index of a schema: that of before, where the schema is. */
  index(schema: Schema): SchemaIndex {
    if (!isDeepStrictEqual(this.#schema?.schema, schema)) this.#schema = indexSchema(schema);
    return this.#schema!;
  }

  /** What is made of a query, by `check` unless it is known. */
  checked(
    declaration: QueryDeclaration,
    schema: SchemaIndex,
    to: { report: Report; facts: Facts | undefined },
    check: (report: Report, facts: Facts) => Query | undefined,
  ): Query | undefined {
    let found = this.#checked.get(declaration);
    if (found?.schema === schema) for (const words of found.said) to.report(...words);
    else {
      const said: Checked['said'] = [];
      const report: Report = (...words) => {
        said.push(words);
        to.report(...words);
      };
      const facts = new SemanticModel();
      found = { schema, query: check(report, facts), facts, said };
      this.#checked.set(declaration, found);
    }
    if (to.facts !== undefined) found.facts.tell(to.facts);
    return found.query;
  }
}

/** A collector whose reports can be repeated to another. */
function recorded(collector: Collector, said: ReadFile['said']): Collector {
  return {
    ...collector,
    in: (...place) => {
      const report = collector.in(...place);
      return (...words) => {
        said.push((to) => to.in(...place)(...words));
        report(...words);
      };
    },
  };
}

/** Declarations of `before` take the place of those that were read of the same text at the same place. */
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

/** What could not be read leaves marks that the text does not tell. */
const isWhole = ({ faulty, lost }: QueryDeclaration): boolean => !faulty && !lost?.size;
