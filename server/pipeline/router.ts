// Which paths and methods there are (http.md 2, 3.3, 3.4). A table from path to endpoints, rebuilt
// when the queries change. Invariant: paths are compared byte for byte, by own key of a Map: no
// name of a prototype is a route.
import { type ErrorData, excerpt, fail, nearestName } from '../../engine/internal.js';
import type { AnswerStream, Exchange } from '../http/exchange.js';
import type { HeaderList } from '../http/header-list.js';
import { type Caller, scopeNames } from '../auth/keys.js';
import { queriesOf } from '../auth/permissions.js';
import type { RouteMetrics } from '../telemetry/metrics.js';
import type { Access } from '../auth/request-guard.js';

/** A finished answer other than a JSON 200. */
export interface Reply {
  status: string;
  headers: HeaderList;
  body: Uint8Array | string;
}

/** An answer whose end is not known yet. */
export interface StreamReply {
  status: string;
  headers: HeaderList;
  begin(stream: AnswerStream): void;
}

/** A JSON body answers 200. */
export type Result = Uint8Array | Reply | StreamReply;

export interface Endpoint {
  metrics: RouteMetrics;
  access: Access;
  /** The query it runs: keys may be limited to some. */
  query?: string;
  writes: boolean;
  /** Only the leader of a cluster may do it. */
  leaderOnly?: boolean;
  /** Shards answer it, each as far as it is; a write is of one, which has a leader of its own. */
  sharded?: boolean;
  /** It reads data, though it is no query: its answer is as fresh as a query's. */
  reads?: boolean;
  /** It goes on with a session, which is on one node. */
  sessionCall?: boolean;
  /** Takes NDJSON too. */
  ndjson?: boolean;
  /** Answered in every state of the server. */
  availableDuringStartup: boolean;
  /** Says itself what cannot be done while the server starts or stops. */
  reportsStartup?: boolean;
  /** A client that ends its side of the connection has given the call up. */
  cancelOnHalfClose?: boolean;
  /** Milliseconds a call may take. */
  budgetMs: number;
  /** Why it would turn a request away whatever its body says, once its head and length are in. */
  reject?(exchange: Exchange, bytes: number): ErrorData | undefined;
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
    private readonly mcp?: Endpoint,
  ) {
    this.replaceQueries(new Map());
  }

  /** Query endpoints by name; fixed GET paths never shadow one. */
  replaceQueries(queries: ReadonlyMap<string, Endpoint>): void {
    const table = new Map<string, Route>();
    for (const [path, get] of this.fixed) table.set(path, { get });
    for (const [path, post] of this.actions) table.set(path, { post });
    if (this.mcp !== undefined) table.set('/mcp', { post: this.mcp });
    for (const [name, post] of queries) {
      const path = `/${name}`;
      table.set(path, { ...table.get(path), post });
    }
    this.#table = table;
    this.#queries = [...queries.keys()];
  }

  /** Every path that something stands behind, but those of tools. */
  get paths(): string[] {
    return [...this.#table.keys()];
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

  /** The endpoint of a route for a method, or undefined. */
  endpointFor(route: Route, method: string): Endpoint | undefined {
    if (method === 'POST') return route.post;
    return method === 'GET' || method === 'HEAD' ? route.get : undefined;
  }

  /** The 405 of a route, naming the methods there are. */
  failMethod(route: Route, { method, path }: Exchange): never {
    const allow = [...(route.get ? ['GET', 'HEAD'] : []), ...(route.post ? ['POST'] : [])];
    return fail('METHOD_NOT_ALLOWED', {
      method: excerpt(method),
      path: excerpt(normalPath(path)),
      allow: allow.join(', '),
    });
  }

  /** The 404 of a path without a route. A key hears of no query but those that it is for. */
  failUnknown(rawPath: string, caller: Caller | undefined): never {
    const path = normalPath(rawPath);
    const scope = queriesOf(caller);
    if (path.startsWith('/mcp/')) {
      const tool = path.slice(5);
      if (scope === undefined) this.tools.failUnknown(tool);
      return fail('NOT_FOUND', { name: excerpt(tool), kind: 'MCP' });
    }
    const name = path.slice(1);
    const known = scope ? this.#queries.filter((query) => scopeNames(scope, query)) : this.#queries;
    const near = nearestName(name, known);
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
