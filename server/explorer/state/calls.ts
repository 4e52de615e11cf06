// Stores the last calls of this tab, so that they can be repeated. Other tabs do not see them.
import { signal } from '@preact/signals';

export interface PastCall {
  query: string;
  /** Address of the view that made the call. */
  address: string;
  ms: number;
  /** Increases with each call. */
  at: number;
}

const callsMax = 50;
const stored = 'trellis-calls';

function readStored(): PastCall[] {
  try {
    return JSON.parse(sessionStorage.getItem(stored) ?? '[]') as PastCall[];
  } catch {
    return [];
  }
}

/** Calls, newest first. */
export const calls = signal<PastCall[]>(readStored());

/** Returns a text such as `person=newton k=3`. */
export function argumentsIn({ address }: PastCall): string {
  const params = new URLSearchParams(address.replace(/^[^?]*\??/, ''));
  const shown = [...params].filter(([name]) => name !== 'run' && name !== 'view');
  return shown.map(([name, text]) => `${name}=${text}`).join('  ') || 'no arguments';
}

/** Removes all calls, so that the next user does not see them. */
export function forgetCalls(): void {
  calls.value = [];
  sessionStorage.removeItem(stored);
}

export function noteCall(call: Omit<PastCall, 'at'>): void {
  const others = calls.value.filter(({ address }) => address !== call.address);
  const at = 1 + Math.max(0, ...calls.value.map((one) => one.at));
  calls.value = [{ ...call, at }, ...others].slice(0, callsMax);
  try {
    sessionStorage.setItem(stored, JSON.stringify(calls.value));
  } catch {
    // Arguments that are too large for the storage of the browser are kept until the page is closed.
    sessionStorage.removeItem(stored);
  }
}
