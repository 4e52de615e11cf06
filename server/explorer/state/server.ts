// Polls the status of the server once a second while the tab is visible. Reads the program again after a
// reload of the server.
//
// Invariant: a hidden tab sends no requests.
import { computed, effect, signal } from '@preact/signals';
import { type Moment, type Status, momentOf } from '../model/status.js';
import { ApiError, ask, isOffline } from './api.js';
import { keyRequest } from './key.js';
import { contract, readProgram, schema } from './program.js';

const momentsMax = 120;

export const status = signal<Status | undefined>(undefined);
export const moments = signal<Moment[]>([]);

export const isAdmin = computed(() => status.value?.role === 'admin');

/** A key that is limited to some queries sees only these queries, and no elements. */
export const isScoped = computed(
  () => status.value !== undefined && status.value.elements === undefined,
);

const token = crypto.getRandomValues(new Uint32Array(2)).join('-');

/** Aborted when the key changes: the page must not show responses to the former key. */
let turn = new AbortController();

async function poll(signal: AbortSignal): Promise<void> {
  const { value } = await ask<Status>(`_explore/status?since=${token}`, { signal });
  signal.throwIfAborted();
  const before = status.value;
  status.value = value;
  if (before === undefined || before.reloads !== value.reloads || contract.value === undefined) {
    await readProgram(signal);
  }
  if (value.seconds === null || value.seconds > 30) return;
  moments.value = [...moments.value, momentOf(value, value.seconds)].slice(-momentsMax);
}

/** Why the page shows nothing yet, if not because of a missing key. */
export const startError = signal<string | undefined>(undefined);

async function pollSafely(): Promise<void> {
  if (document.hidden || keyRequest.value !== undefined) return;
  const { signal } = turn;
  try {
    await poll(signal);
    startError.value = undefined;
  } catch (error) {
    if (signal.aborted) return;
    const known = error instanceof ApiError && error.status !== 0;
    startError.value = known ? error.message : 'The server does not respond. Trying again.';
    if (known && error.body.code === 'FEATURE_DISABLED') clearInterval(timer);
    // A key with the role `metrics` cannot open the explorer, so ask for another one.
    if (known && error.body.code === 'FORBIDDEN') keyRequest.value = error.message;
  }
}

let timer = 0;
let polling: Promise<void> | undefined;

export function pollNow(): Promise<void> {
  if (polling === undefined) {
    const own = pollSafely().finally(() => {
      if (polling === own) polling = undefined;
    });
    polling = own;
  }
  return polling;
}

/** Clears everything that a former key has loaded. */
function forgetServer(): void {
  turn.abort();
  turn = new AbortController();
  polling = undefined;
  status.value = undefined;
  moments.value = [];
  contract.value = undefined;
  schema.value = undefined;
}

export function startPolling(): void {
  timer = window.setInterval(() => void pollNow(), 1000);
  document.addEventListener('visibilitychange', () => void pollNow());
  effect(() => {
    if (keyRequest.value === undefined) void pollNow();
    else forgetServer();
  });
  effect(() => {
    document.body.classList.toggle('offline', isOffline.value);
  });
}
