// The server's figures, asked for once a second while somebody looks. The program is read again when the
// server has taken new sources. Invariant: a hidden tab asks for nothing.
import { computed, effect, signal } from '@preact/signals';
import { type Moment, type Status, momentOf } from '../model/status.js';
import { ApiError, ask, isOffline } from './api.js';
import { keyAsked } from './key.js';
import { contract, readProgram } from './program.js';

const momentsMax = 120;

export const status = signal<Status | undefined>(undefined);
export const moments = signal<Moment[]>([]);

export const isAdmin = computed(() => status.value?.role === 'admin');

const token = crypto.getRandomValues(new Uint32Array(2)).join('-');

async function poll(): Promise<void> {
  const { value } = await ask<Status>(`_explore/status?since=${token}`);
  const before = status.value;
  status.value = value;
  if (before === undefined || before.reloads !== value.reloads || contract.value === undefined) {
    await readProgram();
  }
  if (value.seconds === null || value.seconds > 30) return;
  moments.value = [...moments.value, momentOf(value, value.seconds)].slice(-momentsMax);
}

/** Why the page shows nothing yet, other than a key. */
export const startFault = signal<string | undefined>(undefined);

async function pollSafely(): Promise<void> {
  if (document.hidden || keyAsked.value !== undefined) return;
  try {
    await poll();
    startFault.value = undefined;
  } catch (error) {
    const known = error instanceof ApiError && error.status !== 0;
    startFault.value = known ? error.message : 'The server does not answer; trying again.';
    if (known && error.fault.code === 'FEATURE_DISABLED') clearInterval(timer);
  }
}

let timer = 0;
let polling: Promise<void> | undefined;

export function pollNow(): Promise<void> {
  polling ??= pollSafely().finally(() => {
    polling = undefined;
  });
  return polling;
}

export function startPolling(): void {
  timer = window.setInterval(() => void pollNow(), 1000);
  document.addEventListener('visibilitychange', () => void pollNow());
  effect(() => {
    if (keyAsked.value === undefined) void pollNow();
    else {
      status.value = undefined;
      moments.value = [];
    }
  });
  effect(() => {
    document.body.classList.toggle('offline', isOffline.value);
  });
}
