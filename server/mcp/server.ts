// The protocol put together around a database that may still be opening: tools of the program in
// force, methods, endpoint. Owns the tools, which are made anew when the program changes.
import type { Database, Limits, Program } from '../../engine/index.js';
import type { ConfigValues } from '../config/config-schema.js';
import type { McpHandler } from '../endpoint/mcp-handler.js';
import type { ServerSample } from '../observe/families.js';
import type { Metrics } from '../observe/metrics.js';
import type { Endpoint } from '../request/routes.js';
import { catalogueTools } from './catalogue-tool.js';
import { mcpEndpoint } from './endpoint.js';
import { coreMethods } from './methods.js';
import { McpMetrics } from './metrics.js';
import { queryTool } from './query-tool.js';
import { sessionTools } from './session-tool.js';
import { Toolset } from './toolset.js';

export interface McpServerOptions {
  version: string;
  config: Pick<ConfigValues, 'mcp' | 'sessions' | 'limits'>;
  /** Fails NOT_READY and the like while calls are refused. */
  database: () => Database;
  sessions: () => McpHandler;
  hasKeys: () => boolean;
  metrics: Metrics;
}

export class McpServer {
  readonly endpoint: Endpoint;
  readonly #metrics = new McpMetrics();
  #tools: { program: Program; toolset: Toolset } | undefined;

  constructor(private readonly options: McpServerOptions) {
    const { version, config, hasKeys, metrics } = options;
    const { mcp, sessions, limits } = config;
    const methods = coreMethods({
      version,
      toolset: () => this.#toolset(),
      outputChars: mcp.output_chars,
      metrics: this.#metrics,
    });
    this.endpoint = mcpEndpoint({
      version,
      enabled: mcp.enabled && sessions.enabled,
      limits,
      bodyBytes: mcp.body_bytes,
      ttl: mcp.ttl,
      hasKeys,
      methods,
      routes: metrics,
      metrics: this.#metrics,
    });
  }

  samples(): ServerSample[] {
    return this.#metrics.samples();
  }

  #toolset(): Toolset {
    const { program } = this.options.database();
    if (this.#tools?.program !== program) {
      this.#tools = { program, toolset: this.#toolsetOf(program) };
    }
    return this.#tools.toolset;
  }

  #toolsetOf(program: Program): Toolset {
    const { config, database, sessions } = this.options;
    const { mcp } = config;
    const limits: Limits = config.limits;
    const { query_time: readBudget, write_time: writeBudget } = limits;
    const tools: Toolset = new Toolset(program, {
      exposed: mcp.tools,
      most: mcp.tools_max,
      queryTool: (query) => queryTool(query, program, { database, readBudget, writeBudget }),
      catalogue: catalogueTools((key) => tools.queries(key), limits),
      sessionTools: mcp.session_tools
        ? sessionTools({ handler: sessions, limits, schema: program.schema })
        : [],
    });
    return tools;
  }
}
