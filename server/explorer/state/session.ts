// The walk of this tab: a session of the server's own, its calls with what they answered, and what the
// traversal holds after each. Watching another session only reads it. Invariant: what is held is always what
// the server said last.
import { effect, signal } from '@preact/signals';
import { type Call, type Held, bodyOf, packWalk } from '../model/session.js';
import { ask, messageOf } from './api.js';
import { keyAsked } from './key.js';
import { route, setParams } from './router.js';

export interface WalkRow {
  call: Call;
  answer?: unknown;
  fault?: string;
  ms: number;
  held: Held;
}

interface Walk {
  connection: string;
  rows: WalkRow[];
}

export const walk = signal<Walk | undefined>(undefined);
/** Whether calls are running, and the error if no session could start. */
export const walking = signal({ isBusy: false, fault: '' });

// A session belongs to the key that opened it.
effect(() => {
  if (keyAsked.value !== undefined) walk.value = undefined;
});

async function post<T>(tool: string, body: unknown): Promise<{ value: T; ms: number }> {
  return ask<T>(`mcp/${tool}`, { body: JSON.stringify(body) });
}

interface Group {
  label: string | null;
  count: number;
}

/** How many items of which type; of a blank traversal none. */
export async function readHeld(connection: string): Promise<Held> {
  const body = { connection_id: connection, properties: ['label'] };
  const { value } = await post<Group[]>('group_by', body);
  return value.map(({ label, count }) => ({ label: label ?? '', count }));
}

/** The first items, without moving the cursor. */
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
    return { call, fault: messageOf(error), ms: 0, held };
  }
}

/** The calls that succeeded, as an address has them. */
export function walkedSoFar(): string {
  const done = (walk.value?.rows ?? []).filter(({ fault }) => fault === undefined);
  return packWalk(done.map(({ call }) => call));
}

/** Makes calls one after another; the address holds those that succeeded. */
export async function go(calls: readonly Call[]): Promise<void> {
  if (walking.value.isBusy || calls.length === 0) return;
  walking.value = { isBusy: true, fault: '' };
  const asked = route.value;
  try {
    const { connection } = walk.value ?? (await begin());
    for (const call of calls) {
      const row = await carryOut(connection, call);
      walk.value = { connection, rows: [...walk.value!.rows, row] };
    }
    setParams({ walk: walkedSoFar() }, asked);
  } catch (error) {
    walking.value = { isBusy: true, fault: messageOf(error) };
  } finally {
    walking.value = { ...walking.value, isBusy: false };
  }
}

/** Leaves the session. The server closes it when it has been idle. */
export function leaveWalk(): void {
  walk.value = undefined;
  setParams({ walk: undefined, watch: undefined });
}
