// The MCP server of one database: tools of the current program, resources, prompts, streams and the endpoint.
// The database may still be opening. Owns the tools, which are rebuilt when the program changes, and the
// prompts of the project, which are read again then.
import type { Database, Limits, Program } from '../../engine/internal.js';
import type { Caller } from '../auth/keys.js';
import type { Config } from '../config/config.js';
import type { SessionService } from '../handlers/sessions.js';
import type { HttpThreadMcp } from '../http-threads/http-thread-pool.js';
import type { ServerSample } from '../telemetry/metric-definitions.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { CallOnLeader } from '../cluster/forward/consistency.js';
import type { Endpoint } from '../pipeline/router.js';
import { catalogueTools } from './tool/query-catalog.js';
import { mcpEndpoint } from './endpoint.js';
import { greetings } from './initialize.js';
import { OpenStreams, Subscriptions, type World } from './subscriptions/subscriptions.js';
import { McpMetrics } from './message/metrics.js';
import type { Methods } from './message/method.js';
import type { Prompt } from './prompt/prompt.js';
import { readPrompts } from './prompt/prompt-file.js';
import { allOf, promptMethods } from './prompt/prompt-methods.js';
import { resourceMethods, schemaPageUri, schemaUri } from './resource/resource-methods.js';
import { visibleTo } from './resource/visibility.js';
import { queryTool } from './tool/query-tool.js';
import { sessionTools } from './tool/session-tool.js';
import { type ToolMethodOptions, toolMethods } from './tool/tool-methods.js';
import { Toolset } from './tool/toolset.js';

export interface McpServerOptions {
  version: string;
  config: Pick<
    Config,
    'mcp' | 'sessions' | 'limits' | 'text' | 'embedding' | 'vectorTypes' | 'projectDir'
  >;
  /** For `trellis dev`: clients must not cache lists. */
  isFresh: boolean;
  /** Reports errors in a file of the user. */
  warn: (line: string) => void;
  /** Fails while calls are refused, for example with NOT_READY. */
  database: () => Database;
  sessions: () => SessionService;
  /** Cluster only. Runs a write on the leader; returns undefined if this node is the leader. */
  callOnLeader: CallOnLeader;
  /**
   * Cluster only. Waits until this node is as current as a read requires; returns undefined if it is.
   */
  fresh?: ToolMethodOptions['fresh'];
  hasKeys: () => boolean;
  metrics: Metrics;
  /** The open streams of all databases of the server. */
  streams?: OpenStreams | undefined;
}

export class McpServer {
  readonly endpoint: Endpoint;
  /** For other threads that serve tool calls. */
  readonly forHttpThreads: HttpThreadMcp;
  readonly #metrics = new McpMetrics();
  readonly #streams: Subscriptions;
  #prompts: readonly Prompt[] = [];
  #tools: { program: Program; toolset: Toolset } | undefined;

  constructor(private readonly options: McpServerOptions) {
    const { version, config, isFresh, hasKeys, metrics } = options;
    const { mcp, sessions, limits } = config;
    const worldOf = (caller: Caller | undefined): World => this.#worldOf(caller);
    this.#streams = new Subscriptions({
      max: mcp.max_subscriptions,
      streams: options.streams ?? new OpenStreams(limits),
      worldOf,
    });
    const tools: ToolMethodOptions = {
      toolset: () => this.#toolset(),
      outputChars: mcp.max_output_chars,
      metrics: this.#metrics,
      fresh: this.options.fresh,
    };
    const rules = {
      enabled: mcp.enabled && sessions.enabled,
      version,
      exposed: mcp.tools,
      prefix: mcp.tool_prefix,
      outputChars: mcp.max_output_chars,
      bodyBytes: mcp.body_bytes,
      limits,
    };
    this.forHttpThreads = { rules, metrics: this.#metrics };
    this.endpoint = mcpEndpoint({
      version,
      enabled: rules.enabled,
      limits,
      bodyBytes: rules.bodyBytes,
      ttl: isFresh ? 0 : mcp.list_ttl,
      hasKeys,
      methods: new Map(this.#methods(tools)),
      routes: metrics,
      metrics: this.#metrics,
    });
  }

  #methods(tools: ToolMethodOptions): Methods {
    const { version, database, config } = this.options;
    const prefix = config.mcp.tool_prefix;
    return [
      ...greetings(version, prefix),
      ...toolMethods(tools),
      ...resourceMethods(database),
      ...promptMethods({ database, prompts: () => this.#prompts, prefix }),
      ...this.#streams.methods(),
    ];
  }

  samples(): ServerSample[] {
    return [...this.#metrics.samples(), { name: 'mcp_streams', value: this.listeners }];
  }

  /**
   * Called when the program, the prompts or the keys may have changed. Reads the prompts again, and
   * notifies subscribers.
   */
  reload(): void {
    const { config, warn } = this.options;
    const { prompts, errors } = readPrompts(config.projectDir);
    this.#prompts = prompts;
    for (const error of errors) warn(error);
    if (this.listeners > 0) this.#streams.announce();
  }

  /** Number of open subscriptions. */
  get listeners(): number {
    return this.#streams.count;
  }

  dropKey(keyId: string): void {
    this.#streams.end(keyId);
  }

  endStreams(): void {
    this.#streams.end();
  }

  /** Returns the caller's version of everything that can change. */
  #worldOf(caller: Caller | undefined): World {
    const tools = this.#toolset().listed(caller);
    const prefix = this.options.config.mcp.tool_prefix;
    const seen = visibleTo(this.options.database().program, caller);
    const queries = seen.queries.map(({ written, doc }) => [written, doc]);
    const schema = JSON.stringify([seen.schema, queries], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    return {
      tools: tools.map((tool) => tool.entry()).join(),
      resources: seen.queries.map(({ name, doc }) => `${name} ${doc}`).join(),
      prompts: JSON.stringify(allOf({ prompts: () => this.#prompts, prefix })),
      contents: { [schemaUri]: schema, [schemaPageUri]: schema },
    };
  }

  #toolset(): Toolset {
    const { program } = this.options.database();
    if (this.#tools?.program !== program) {
      this.#tools = { program, toolset: this.#toolsetOf(program) };
    }
    return this.#tools.toolset;
  }

  #toolsetOf(program: Program): Toolset {
    const { config, database, sessions, callOnLeader } = this.options;
    const { mcp } = config;
    const limits: Limits = config.limits;
    const rules = { limits, integers: mcp.integers };
    const prefix = mcp.tool_prefix;
    const modelOf = (type?: string): string =>
      config.vectorTypes[type ?? '']?.embedding_model || config.embedding.model;
    const tools: Toolset = new Toolset(program, {
      exposed: mcp.tools,
      toolsMax: mcp.tools_max,
      queryTool: (query) => queryTool(query, program, { database, callOnLeader, ...rules }),
      catalogue: catalogueTools((key) => tools.queries(key), limits, prefix),
      sessionTools: mcp.session_tools
        ? sessionTools({ handler: sessions, limits, schema: program.schema, prefix })
        : [],
      prefix,
      needs: { schema: program.schema, hasKeywordSearch: config.text.enabled, modelOf },
    });
    return tools;
  }
}
