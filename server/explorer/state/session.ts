// The session of this tab: its calls with their results, and the traversal after each call. Watching another
// session only reads it. Invariant: the shown traversal is the last one that the server reported.
import { effect, signal } from '@preact/signals';
import { type Call, type Held, bodyOf, packWalk } from '../model/session.js';
import { ask, messageOf } from './api.js';
import { keyRequest } from './key.js';
import { route, setParams } from './router.js';

export interface WalkRow {
  call: Call;
  answer?: unknown;
  error?: string;
  ms: number;
  held: Held;
}

interface Walk {
  connection: string;
  rows: WalkRow[];
}

export const walk = signal<Walk | undefined>(undefined);
/** Whether calls are running, and the error if no session could start. */
export const walking = signal({ isBusy: false, error: '' });

// A session belongs to the key that opened it.
effect(() => {
  if (keyRequest.value !== undefined) walk.value = undefined;
});

async function post<T>(tool: string, body: unknown): Promise<{ value: T; ms: number }> {
  return ask<T>(`mcp/${tool}`, { body: JSON.stringify(body) });
}

interface Group {
  label: string | null;
  count: number;
}

/** Number of items by type; empty for a blank traversal. */
export async function readHeld(connection: string): Promise<Held> {
  const body = { connection_id: connection, properties: ['label'] };
  const { value } = await post<Group[]>('group_by', body);
  return value.map(({ label, count }) => ({ label: label ?? '', count }));
}

/** Returns the first items, without moving the cursor. */
export async function readFirst(connection: string, count: number): Promise<unknown[]> {
  const body = { connection_id: connection, drop: false, range: { start: 0, end: count } };
  return (await post<unknown[]>('collect', body)).value;
}

async function begin(): Promise<Walk> {
  const { value } = await post<string>('init', {});
  const fresh = { connection: value, rows: [] };
  walk.value = fresh;
  return fresh;
}

async function carryOut(connection: string, call: Call): Promise<WalkRow> {
  try {
    const { value, ms } = await post<unknown>(call.tool, bodyOf(call, connection));
    return { call, answer: value, ms, held: await readHeld(connection) };
  } catch (error) {
    const held = await readHeld(connection).catch(() => []);
    return { call, error: messageOf(error), ms: 0, held };
  }
}

/** Returns the successful calls, in the form of the address. */
export function walkedSoFar(): string {
  const done = (walk.value?.rows ?? []).filter(({ error }) => error === undefined);
  return packWalk(done.map(({ call }) => call));
}

/** Makes calls one after another. The address contains those that succeeded. */
export async function go(calls: readonly Call[]): Promise<void> {
  if (walking.value.isBusy || calls.length === 0) return;
  walking.value = { isBusy: true, error: '' };
  const startRoute = route.value;
  try {
    const { connection } = walk.value ?? (await begin());
    for (const call of calls) {
      const row = await carryOut(connection, call);
      walk.value = { connection, rows: [...walk.value!.rows, row] };
    }
    setParams({ walk: walkedSoFar() }, startRoute);
  } catch (error) {
    walking.value = { isBusy: true, error: messageOf(error) };
  } finally {
    walking.value = { ...walking.value, isBusy: false };
  }
}

/** Leaves the session. The server closes it when it has been idle. */
export function leaveWalk(): void {
  walk.value = undefined;
  setParams({ walk: undefined, watch: undefined });
}
