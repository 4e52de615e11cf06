// The banner and the keys of `trellis dev` at a terminal. Without a terminal only the ready line is printed,
// as programs expect it.
import type { Paint } from '../terminal/colour.js';
import { counted } from '../terminal/format.js';

export interface ReadyFacts {
  version: string;
  /** Milliseconds from the start to now. */
  ms: number;
  url: string;
  queries: number;
  types: number;
  dataDir: string;
  /** The file of generated types; empty for none. */
  typesOut: string;
  /** Whether the MCP endpoint is enabled. */
  agents: boolean;
  project: string;
  /** Arguments of a curl command that works without changes. */
  sample: string;
}

export function readyScreen(facts: ReadyFacts, paint: Paint): string {
  const { version, ms, url, queries, types, dataDir, typesOut, sample } = facts;
  const agents = `${paint('cyan', `${url}/mcp`)}  claude mcp add --transport http ${nameOf(facts)} ${url}/mcp`;
  const row = (name: string, text: string): string =>
    `  ${paint('green', '➜')}  ${paint('bold', name.padEnd(9))}  ${text}`;
  const have = `${counted(queries, 'query', 'queries')}, ${counted(types, 'type')}`;
  return [
    '',
    `  ${paint('bold', `TrellisDB ${version}`)}  ready in ${Math.round(ms)} ms`,
    '',
    row('Explorer', paint('cyan', url)),
    row('Queries', `POST ${paint('cyan', `${url}/<name>`)}  ${paint('dim', have)}`),
    ...(facts.agents ? [row('Agents', agents)] : []),
    row('Try', `curl -s ${sample}`),
    row('Data', dataDir),
    ...(typesOut === '' ? [] : [row('Types', typesOut)]),
    `  ${paint('dim', 'press h + enter for help')}`,
    '',
  ].join('\n');
}

/** Returns the name under which agents configure the server. */
const nameOf = ({ project }: ReadyFacts): string =>
  project.replaceAll(/[^\w-]+/g, '-') || 'trellis';

export interface KeyActions {
  open: () => void;
  reload: () => void;
  types: () => void;
  quit: () => void;
  print: (text: string) => void;
}

const keysHelp = `  h  this help
  o  open the explorer in a browser
  t  write the types, where \`types.out\` says
  r  reload the sources
  c  clear the screen
  q  quit`;

/** Runs the action of each key that is entered as a line. Other lines are ignored. */
export function obeyKeys(input: NodeJS.ReadableStream, actions: KeyActions): void {
  const byKey: Record<string, () => void> = {
    h: () => actions.print(keysHelp),
    o: actions.open,
    t: actions.types,
    r: actions.reload,
    c: () => actions.print('\u001bc'),
    q: actions.quit,
  };
  input.setEncoding('utf8');
  input.on('data', (text: string) => {
    for (const line of text.split('\n').slice(0, -1)) {
      const key = line.trim();
      if (Object.hasOwn(byKey, key)) byKey[key]!();
    }
  });
}
