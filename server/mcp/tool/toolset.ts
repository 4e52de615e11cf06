// The tools of a program, and the part that a caller sees.
//
// Invariant: a tool that a key may not call, or that cannot work, is not listed. The list of a caller is
// always in the same order.
import type { Program, Query } from '../../../engine/internal.js';
import type { Caller } from '../../auth/keys.js';
import { isScoped, mayCall } from '../../auth/permissions.js';
import { lazy } from './query-tool.js';
import type { Tool } from './tool.js';
import { canRunQuery, canRunSessionTool, type ToolNeeds } from './tool-availability.js';

/** Which queries are tools. */
export type Exposed = 'read' | 'marked' | 'none';

export const isExposed = ({ mcp, plan }: Query, exposed: Exposed): boolean =>
  exposed !== 'none' && (mcp || (exposed === 'read' && !plan.writes));

export interface ToolsetOptions {
  exposed: Exposed;
  /** With more queries than this, two tools stand for those that are not marked. */
  toolsMax: number;
  queryTool: (query: Query) => Tool;
  /** `list_queries` and `run_query`. */
  catalogue: readonly Tool[];
  sessionTools: readonly Tool[];
  /** Beginning of the name of every tool. */
  prefix: string;
  needs: ToolNeeds;
}

export class Toolset {
  readonly #queries: Tool[];
  readonly #byName = new Map<string, Tool>();
  readonly #sessionTools: Tool[];
  readonly #catalogue: readonly Tool[];

  constructor(
    program: Program,
    private readonly options: ToolsetOptions,
  ) {
    const { exposed, queryTool, sessionTools, catalogue, prefix, needs } = options;
    const prefixed = (tool: Tool): Tool =>
      prefix === '' ? tool : renamed(tool, `${prefix}${tool.name}`);
    const usable = program.queries.filter(
      (query) => isExposed(query, exposed) && canRunQuery(query, needs),
    );
    this.#queries = usable.map((query) => prefixed(queryTool(query)));
    const taken = new Set(program.queries.map(({ name }) => name));
    this.#catalogue = catalogue.filter(({ name }) => !taken.has(name)).map(prefixed);
    this.#sessionTools = sessionTools
      .filter(({ name }) => canRunSessionTool(name, needs))
      .map((tool) => prefixed(taken.has(tool.name) ? renamed(tool, `walk_${tool.name}`) : tool));
    for (const tool of [...this.#catalogue, ...this.#sessionTools, ...this.#queries]) {
      this.#byName.set(tool.name, tool);
    }
  }

  /** Tools in the order of the list. */
  listed(caller: Caller | undefined): Tool[] {
    const queries = this.queries(caller);
    const isMany = queries.length > this.options.toolsMax;
    const shown = isMany
      ? [...queries.filter(({ query }) => query!.mcp), ...this.#catalogue]
      : queries;
    return isScoped(caller) ? shown : [...shown, ...this.#sessionTools];
  }

  /** Query tools that the caller may call. */
  queries(caller: Caller | undefined): Tool[] {
    return this.#queries.filter(({ query }) => mayCall(caller, query!));
  }

  /** Undefined also for a tool that the caller may not call. */
  find(name: string, caller: Caller | undefined): Tool | undefined {
    const tool = this.#byName.get(name);
    if (tool?.query !== undefined) return mayCall(caller, tool.query) ? tool : undefined;
    const isCatalogue = this.#catalogue.includes(tool!);
    return isCatalogue || !isScoped(caller) ? tool : undefined;
  }
}

function renamed(tool: Tool, name: string): Tool {
  const entry = lazy(() => JSON.stringify({ ...JSON.parse(tool.entry()), name }));
  return { ...tool, name, entry };
}
