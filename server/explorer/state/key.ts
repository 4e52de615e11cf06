// Stores the API key of this page: in memory, or in the session storage of the tab if the user ticks the box.
// Invariant: the key is sent only as a header to data routes, never in an address.
import { signal } from '@preact/signals';
import { forgetCalls } from './calls.js';

const stored = 'trellis-key';
let key = sessionStorage.getItem(stored) ?? '';

/** Why the page asks for a key; undefined if no key is needed. */
export const keyRequest = signal<string | undefined>(undefined);

export function useKey(text: string, keep: boolean): void {
  key = text;
  if (keep) sessionStorage.setItem(stored, text);
  else sessionStorage.removeItem(stored);
  keyRequest.value = undefined;
}

export function forgetKey(): void {
  useKey('', false);
  forgetCalls();
  keyRequest.value = 'Signed out.';
}

export const hasKey = (): boolean => key !== '';

export const keyHeader = (): Record<string, string> => (key === '' ? {} : { 'x-api-key': key });
