// The key of this page's requests. It lives in memory, or in this tab's session storage when the person says
// so. Invariant: it is sent as a header to data routes only, never in an address.
import { signal } from '@preact/signals';
import { forgetCalls } from './calls.js';

const stored = 'trellis-key';
let key = sessionStorage.getItem(stored) ?? '';

/** Why a key is asked for; undefined while none is needed. */
export const keyAsked = signal<string | undefined>(undefined);

export function useKey(text: string, keep: boolean): void {
  key = text;
  if (keep) sessionStorage.setItem(stored, text);
  else sessionStorage.removeItem(stored);
  keyAsked.value = undefined;
}

export function forgetKey(): void {
  useKey('', false);
  forgetCalls();
  keyAsked.value = 'Signed out.';
}

export const hasKey = (): boolean => key !== '';

export const keyHeader = (): Record<string, string> => (key === '' ? {} : { 'x-api-key': key });
