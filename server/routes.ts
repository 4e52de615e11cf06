// Which paths and methods there are (http.md 2, 3.3, 3.4). A table from path to endpoints, rebuilt
// when the queries change. Invariant: paths are compared byte for byte, by own key of a Map: no
// name of a prototype is a route.
import { excerpt, fail, nearestName } from '../engine/index.js';
import type { Exchange } from './exchange.js';
import type { Caller } from './keys.js';
import type { RouteMetrics } from './metrics.js';
import type { Access } from './security.js';

/** A finished answer other than a JSON 200. */
export interface Reply {
  status: string;
  /** Value of Content-Type and further header lines. */
  type: string;
  body: Uint8Array | string;
}

/** A JSON body answers 200. */
export type Result = Uint8Array | Reply;

export interface Endpoint {
  metrics: RouteMetrics;
  access: Access;
  /** The query it runs: keys may be limited to some. */
  query?: string;
  writes: boolean;
  /** Takes NDJSON too. */
  ndjson?: boolean;
  /** Answered in every state of the server. */
  always: boolean;
  /** Milliseconds a call may take. */
  budgetMs: number;
  handle(
    exchange: Exchange,
    body: Uint8Array,
    caller: Caller | undefined,
  ): Result | Promise<Result>;
}

export interface Route {
  get?: Endpoint;
  post?: Endpoint;
}

/** Endpoints under `/mcp/`. */
export interface ToolRoutes {
  /** The endpoint of a tool, or undefined for an unknown one. */
  find(tool: string): Endpoint | undefined;
  /** Fails NOT_FOUND, with a hint. */
  failUnknown(tool: string): never;
}

export class Routes {
  #table = new Map<string, Route>();
  #queries: string[] = [];

  constructor(
    private readonly fixed: ReadonlyMap<string, Endpoint>,
    private readonly tools: ToolRoutes,
    private readonly actions: ReadonlyMap<string, Endpoint>,
  ) {
    this.replaceQueries(new Map());
  }

  /** Query endpoints by name; fixed GET paths never shadow one. */
  replaceQueries(queries: ReadonlyMap<string, Endpoint>): void {
    const table = new Map<string, Route>();
    for (const [path, get] of this.fixed) table.set(path, { get });
    for (const [path, post] of this.actions) table.set(path, { post });
    for (const [name, post] of queries) {
      const path = `/${name}`;
      table.set(path, { ...table.get(path), post });
    }
    this.#table = table;
    this.#queries = [...queries.keys()];
  }

  /** The route of a path, or undefined. */
  find(rawPath: string): Route | undefined {
    const exact = this.#table.get(rawPath);
    if (exact !== undefined) return exact;
    const path = normalPath(rawPath);
    if (path.startsWith('/mcp/')) {
      const post = this.tools.find(path.slice(5));
      return post && { post };
    }
    return this.#table.get(path);
  }

  /** The endpoint for a method; fails 405 naming the methods there are. */
  choose(route: Route, exchange: Exchange): Endpoint {
    const { method } = exchange;
    if (method === 'POST' && route.post) return route.post;
    if ((method === 'GET' || method === 'HEAD') && route.get) return route.get;
    const allow = [...(route.get ? ['GET', 'HEAD'] : []), ...(route.post ? ['POST'] : [])];
    return fail('METHOD_NOT_ALLOWED', {
      method: excerpt(method),
      path: excerpt(normalPath(exchange.path)),
      allow: allow.join(', '),
    });
  }

  /** The 404 of a path without a route. */
  failUnknown(rawPath: string): never {
    const path = normalPath(rawPath);
    if (path.startsWith('/mcp/')) this.tools.failUnknown(path.slice(5));
    const name = path.slice(1);
    const near = nearestName(name, this.#queries);
    const hint = near === undefined ? {} : { hint: `Did you mean \`${near}\`?` };
    return fail('NOT_FOUND', { name: excerpt(name), kind: 'Query' }, hint);
  }
}

/** Leading slashes become one, one trailing slash goes; nothing is decoded. */
export function normalPath(path: string): string {
  let start = 0;
  while (path.charCodeAt(start + 1) === 47) start++;
  const end = path.length > start + 1 && path.endsWith('/') ? path.length - 1 : path.length;
  return path.slice(start, end);
}
