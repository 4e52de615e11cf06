// A session as an agent runs it: calls of session tools, in the form of requests, texts and addresses. Pure.
import { printValue } from './lossless-json.js';

export interface Call {
  tool: string;
  /** Arguments: members of `data`, or members next to the connection id for some tools. */
  data: Record<string, unknown>;
}

/** Number of items of a traversal by type. */
export type Held = { label: string; count: number }[];

/** Tools whose arguments are members next to the connection id. */
const flat = new Set(['next', 'collect', 'reset', 'group_by', 'aggregate_by']);

export function bodyOf({ tool, data }: Call, connection: string): Record<string, unknown> {
  const id = { connection_id: connection };
  if (flat.has(tool)) return { ...id, ...data };
  return { ...id, data };
}

/** The step as a tool call of `POST /mcp`. */
export const argumentsOf = ({ data }: Call, connection: string): Record<string, unknown> => ({
  connection_id: connection,
  ...data,
});

/** Returns a text such as `n_from_type Person`. */
export function printCall({ tool, data }: Call): string {
  const { filter, ...rest } = data;
  const condition = (filter as { properties?: Condition[][] } | undefined)?.properties?.[0]?.[0];
  const words = Object.values(rest).filter((value) => typeof value !== 'boolean');
  const argumentText = condition
    ? `${condition.key} ${condition.operator} ${String(condition.value)}`
    : words.map(printValue).join(' ');
  return `${tool} ${argumentText}`.trim();
}

interface Condition {
  key: string;
  operator: string;
  value: unknown;
}

/** Returns the number of items of a reply: groups count their items, a list has its length. */
export function countIn(answer: unknown): number | undefined {
  if (Array.isArray(answer)) return answer.length;
  return answer === null ? 0 : undefined;
}

/** The expression also matches `null` and lists. */
const isTool = (tool: unknown): boolean => typeof tool === 'string' && /^[a-z_]{1,40}$/.test(tool);

const isObject = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && !Array.isArray(data);

/** Encodes the calls of a session as text for the URL of the page. */
export const packWalk = (calls: readonly Call[]): string =>
  JSON.stringify(calls.map(({ tool, data }) => [tool, data]));

/** Decodes the calls of a session. Skips calls that are not valid, and returns none for any other text. */
export function unpackWalk(text: string): Call[] {
  try {
    const list = JSON.parse(text) as [string, Record<string, unknown>][];
    return list
      .filter(([tool, data]) => isTool(tool) && isObject(data))
      .map(([tool, data]) => ({ tool, data }));
  } catch {
    return [];
  }
}
