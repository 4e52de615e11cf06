// Wraps the main database of a project with scattered types. Calls about these types go to their shards, and
// all others go to the main database. All parts of the server use it like any database.
import type { Database, Gatherer, Query } from '../../../engine/internal.js';

export function gatheringDatabase(main: Database, gatherer: Gatherer): Database {
  const known = new WeakMap<Database['program'], ReadonlyMap<string, Query>>();
  const scattered = (name: string): Query | undefined => {
    const { program } = main;
    let queries = known.get(program);
    if (queries === undefined) {
      const about = program.queries.filter(({ scatter }) => scatter !== undefined);
      queries = new Map(about.map((query) => [query.name, query]));
      known.set(program, queries);
    }
    return queries.get(name);
  };
  const call: Database['call'] = (name, body, options) => {
    const query = scattered(name);
    return query === undefined
      ? main.call(name, body, options)
      : gatherer.call(query, body, options);
  };
  const refusal: Database['refusal'] = (name, ...rest) =>
    scattered(name) === undefined ? main.refusal(name, ...rest) : undefined;
  const own: Partial<Database> = { call, refusal };
  return new Proxy(main, {
    get: (target, name) => {
      const mine = own[name as keyof Database];
      if (mine !== undefined) return mine;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
