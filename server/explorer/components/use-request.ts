// Hook that sends a request when a component opens, and again when the server is back after an outage. The
// user does not have to reload the page.
import { useEffect, useState } from 'preact/hooks';
import { comebacks, messageOf } from '../state/api.js';

interface Seen<T> {
  value?: T;
  error: string;
}

/**
 * The reply, or undefined before the first one; and the error of the last request, if it failed.
 */
export function useAnswer<T>(ask: () => Promise<T>, inputs: readonly unknown[]): Seen<T> {
  const [seen, setSeen] = useState<Seen<T>>({ error: '' });
  useEffect(() => {
    let isCurrent = true;
    ask().then(
      (value) => isCurrent && setSeen({ value, error: '' }),
      (error: unknown) => isCurrent && setSeen((old) => ({ ...old, error: messageOf(error) })),
    );
    return () => {
      isCurrent = false;
    };
  }, [...inputs, comebacks.value]);
  return seen;
}
