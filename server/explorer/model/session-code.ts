// Prints a session as commands, as a program, or as the arguments of MCP calls, to paste elsewhere. The API
// key is a variable of the environment and is never copied. Pure.
import { type Call, argumentsOf, bodyOf } from './session.js';

export interface SessionServer {
  /** Origin of the server, without a trailing slash. */
  origin: string;
  hasKey: boolean;
}

const inShell = (text: string): string => text.replaceAll("'", `'\\''`);

/** The first line sets the connection id, so the variable is outside the quotes. */
export function walkAsCurl(calls: readonly Call[], { origin, hasKey }: SessionServer): string {
  const key = hasKey ? ' -H "x-api-key: $TRELLIS_API_KEY"' : '';
  const post = `curl -s -H 'Content-Type: application/json'${key}`;
  const lines = calls.map((call) => {
    const body = inShell(JSON.stringify(bodyOf(call, '\0')));
    const [before, after] = body.split('"\\u0000"');
    return `${post} '${origin}/mcp/${call.tool}' -d '${before}'"$C"'${after}'; echo`;
  });
  return [`C=$(${post} -X POST '${origin}/mcp/init')`, ...lines, ''].join('\n');
}

export function walkAsTypeScript(
  calls: readonly Call[],
  { origin, hasKey }: SessionServer,
): string {
  const key = hasKey ? "\n      'x-api-key': process.env.TRELLIS_API_KEY ?? ''," : '';
  const lines = calls.map((call) => {
    const { connection_id: _, ...rest } = bodyOf(call, '');
    return `console.log(await call(${JSON.stringify(call.tool)}, ${JSON.stringify({ ...rest })}));`;
  });
  return `async function call(tool: string, body: object): Promise<unknown> {
  const response = await fetch(\`${origin}/mcp/\${tool}\`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',${key}
    },
    body: JSON.stringify({ connection_id: connection, ...body }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

let connection = '';
connection = (await call('init', {})) as string;
${lines.join('\n')}
`;
}

/** Prints one `tools/call` for each step. */
export const walkAsMcp = (calls: readonly Call[], connection: string): string =>
  `${JSON.stringify(
    calls.map((call) => ({ name: call.tool, arguments: argumentsOf(call, connection) })),
    null,
    2,
  )}\n`;
