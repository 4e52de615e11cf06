// Finds the endpoint of a path and a method, in a table that is rebuilt when the queries change. Invariant:
// paths are compared byte for byte as keys of a Map, so no member of a prototype is a route.
import { type ErrorData, excerpt, fail, nearestName } from '../../engine/internal.js';
import type { AnswerStream, Exchange } from '../http/exchange.js';
import type { HeaderList } from '../http/header-list.js';
import { type Caller, scopeNames } from '../auth/keys.js';
import { queriesOf } from '../auth/permissions.js';
import type { RouteMetrics } from '../telemetry/metrics.js';
import type { Access } from '../auth/request-guard.js';
import { isOAuthPath, oauthHint } from './oauth-path.js';

/** A complete answer other than a JSON body with status 200. */
export interface Reply {
  status: string;
  headers: HeaderList;
  body: Uint8Array | string;
}

/** An answer that is sent in pieces, without a known end. */
export interface StreamReply {
  status: string;
  headers: HeaderList;
  begin(stream: AnswerStream): void;
}

/** A bare Uint8Array is a JSON body with status 200. */
export type Result = Uint8Array | Reply | StreamReply;

export interface Endpoint {
  metrics: RouteMetrics;
  access: Access;
  /** Name of the query that the endpoint runs. Keys may be limited to some queries. */
  query?: string;
  writes: boolean;
  /** Only the leader of a cluster may run it. */
  leaderOnly?: boolean;
  /**
   * Whether shards answer, each at its own position. A write concerns one shard, which has its own leader.
   */
  sharded?: boolean;
  /** The endpoint reads data without a query. Its answer must be as fresh as that of a query. */
  reads?: boolean;
  /** The call continues a session, which is on one node. */
  sessionCall?: boolean;
  /** Whether the endpoint also accepts NDJSON. */
  ndjson?: boolean;
  /** Whether the endpoint answers in every state of the server. */
  availableDuringStartup: boolean;
  /** The endpoint itself reports what is unavailable while the server starts or stops. */
  reportsStartup?: boolean;
  /** A client that ends its side of the connection cancels the call. */
  cancelOnHalfClose?: boolean;
  /** Timeout of a call in milliseconds. */
  budgetMs: number;
  /** Error for which the endpoint refuses a request by its head and length, whatever the body is. */
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

/** Endpoints under `/mcp/`, one per tool. */
export interface ToolRoutes {
  /** The endpoint of a tool, or undefined for an unknown tool. */
  find(tool: string): Endpoint | undefined;
  /** Fails NOT_FOUND with a hint. */
  failUnknown(tool: string): never;
}

/** Maximum number of unknown names whose nearest query is kept. */
const nearestMax = 256;
/** Longer names are not kept. */
const nameMax = 64;

export class Routes {
  #table = new Map<string, Route>();
  #queries: string[] = [];
  /** Nearest query by unknown name; undefined if no query is similar. Clients choose the names. */
  readonly #nearest = new Map<string, string | undefined>();

  constructor(
    private readonly fixed: ReadonlyMap<string, Endpoint>,
    private readonly tools: ToolRoutes,
    private readonly actions: ReadonlyMap<string, Endpoint>,
    private readonly mcp?: Endpoint,
  ) {
    this.replaceQueries(new Map());
  }

  /** Replaces the query endpoints, by name. A fixed GET path never hides a query. */
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
    this.#nearest.clear();
  }

  /** All paths with an endpoint, except those of tools. */
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

  /** Fails METHOD_NOT_ALLOWED, with the methods of the route. */
  failMethod(route: Route, { method, path }: Exchange): never {
    const allow = [...(route.get ? ['GET', 'HEAD'] : []), ...(route.post ? ['POST'] : [])];
    return fail('METHOD_NOT_ALLOWED', {
      method: excerpt(method),
      path: excerpt(normalPath(path)),
      allow: allow.join(', '),
    });
  }

  /**
   * Returns NOT_FOUND for a path without a route. The hint names only queries that the key may call. Fails
   * with the error of a path under `/mcp/`. Scanners cause many such errors, so they must be cheap.
   */
  unknownError(rawPath: string, caller: Caller | undefined): ErrorData {
    const path = normalPath(rawPath);
    const scope = queriesOf(caller);
    if (path.startsWith('/mcp/')) {
      const tool = path.slice(5);
      if (scope === undefined) this.tools.failUnknown(tool);
      return fail('NOT_FOUND', { name: excerpt(tool), kind: 'MCP' });
    }
    const name = path.slice(1);
    if (isOAuthPath(path)) {
      const args = { name: excerpt(name), kind: 'OAuth' };
      return { code: 'NOT_FOUND', args, hint: oauthHint };
    }
    const near =
      scope === undefined
        ? this.#nearestQuery(name)
        : nearestName(
            name,
            this.#queries.filter((query) => scopeNames(scope, query)),
          );
    const hint = near === undefined ? undefined : { hint: `Did you mean \`${near}\`?` };
    return { code: 'NOT_FOUND', args: { name: excerpt(name), kind: 'Query' }, ...hint };
  }

  #nearestQuery(name: string): string | undefined {
    if (name.length > nameMax) return nearestName(name, this.#queries);
    const known = this.#nearest.get(name);
    if (known !== undefined || this.#nearest.has(name)) return known;
    const near = nearestName(name, this.#queries);
    if (this.#nearest.size >= nearestMax) this.#nearest.clear();
    this.#nearest.set(name, near);
    return near;
  }
}

/** Reduces leading slashes to one and removes one trailing slash. Decodes nothing. */
export function normalPath(path: string): string {
  let start = 0;
  while (path.charCodeAt(start + 1) === 47) start++;
  const end = path.length > start + 1 && path.endsWith('/') ? path.length - 1 : path.length;
  return path.slice(start, end);
}
