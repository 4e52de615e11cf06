// The operations that a test does while a resource is missing, and the allowed responses: the server does the
// work, or refuses it with a time to retry.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type Reply } from '../../support/server/http.js';
import { type Subject, rowCount, sourcesOf } from './subject.js';

/** Undefined: it was done. `refused`: it was turned away, to come again. */
export type Outcome = { refused: string } | { fault: string } | undefined;

export interface Deed {
  name: string;
  run: (subject: Subject, turn: number) => Promise<Outcome>;
}

const busy: ReadonlySet<number> = new Set([429, 503, 507]);

function judge({ status, text }: Reply, isRight: (body: string) => boolean = () => true): Outcome {
  if (status === 200) return isRight(text) ? undefined : { fault: `a wrong answer: ${text}` };
  const { code, retryable } = JSON.parse(text) as { code: string; retryable: boolean };
  return busy.has(status) && retryable ? { refused: code } : { fault: `${status} ${text}` };
}

async function post(client: Client, path: string, body: unknown): Promise<Reply> {
  return client.request({ path, body: JSON.stringify(body) });
}

const mcpStep = (connection_id: string): unknown => ({
  connection_id,
  tool: { tool_name: 'n_from_type', args: { node_type: 'Row' } },
});

async function session({ client }: Subject): Promise<Outcome> {
  const opened = await post(client, 'mcp/init', {});
  if (opened.status !== 200) return judge(opened);
  return judge(await post(client, 'mcp/tool_call', mcpStep(JSON.parse(opened.text) as string)));
}

/** Several at once: more readers are wanted than there are. */
async function heavyReads({ others }: Subject): Promise<Outcome> {
  const replies = await Promise.all(others.map((one) => post(one, 'heavy', { text: 'many' })));
  const right = (text: string): boolean => text === `{"rows":${rowCount}}`;
  const outcomes = replies.map((reply) => judge(reply, right));
  const worst = outcomes.find((one) => one !== undefined && 'fault' in one);
  return worst ?? outcomes.find((one) => one !== undefined);
}

async function backup({ client, data }: Subject, turn: number): Promise<Outcome> {
  const name = `backup-${turn}-${Math.random().toString(36).slice(2)}`;
  const outcome = judge(await post(client, '_admin/backup', { name }));
  const isThere = existsSync(join(data, 'backups', name, 'MANIFEST.json'));
  if (outcome === undefined && !isThere) return { fault: 'a backup that is not there' };
  return outcome;
}

async function reload({ client, project }: Subject, turn: number): Promise<Outcome> {
  writeFileSync(join(project, 'main.hx'), sourcesOf(turn)['main.hx']!);
  const reloaded = (text: string): boolean => text.includes('"reloaded":true');
  return judge(await post(client, '_admin/reload', {}), reloaded);
}

/** What is accepted is answered within this. */
const connectMs = 300;

/** Where a process may open no more, the system keeps those to come. */
async function connections({ port }: Subject): Promise<Outcome> {
  const clients = Array.from({ length: 12 }, () => new Client(port));
  const live = clients.map((one) => one.request({ method: 'GET', path: 'livez' }, connectMs));
  const replies = await Promise.allSettled(live);
  for (const one of clients) one.close();
  const failed = replies.find(({ status }) => status === 'rejected') as
    | PromiseRejectedResult
    | undefined;
  if (failed === undefined) return undefined;
  return { refused: `no connection: ${(failed.reason as Error).message}` };
}

export const deeds: Deed[] = [
  {
    name: 'a read',
    run: async ({ client }) =>
      judge(await post(client, 'find', { x: 7 }), (text) => text === '{"rows":1}'),
  },
  {
    name: 'a write',
    run: async ({ client }, turn) =>
      judge(await post(client, 'addOne', { x: rowCount + turn }), (text) => text.includes('"x"')),
  },
  { name: 'a session', run: session },
  { name: 'reads that need a reader', run: heavyReads },
  { name: 'a backup', run: backup },
  {
    name: 'a verify',
    run: async ({ client }) =>
      judge(await post(client, '_admin/verify', {}), (text) => text.includes('"clean":true')),
  },
  { name: 'a reload', run: reload },
  { name: 'connections', run: connections },
];

export interface Ready {
  status: number;
  body: { ready: boolean; writes: boolean; checks: Record<string, boolean> };
}

export async function readyOf({ client }: Subject): Promise<Ready> {
  const { status, text } = await client.request({ method: 'GET', path: 'readyz' });
  return { status, body: JSON.parse(text) as Ready['body'] };
}
