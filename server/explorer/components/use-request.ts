// What a part of a page asks the server for when it is opened, and again when the server comes back after it was
// away: nobody has to load the page anew for it.
import { useEffect, useState } from 'preact/hooks';
import { comebacks, messageOf } from '../state/api.js';

interface Seen<T> {
  value?: T;
  fault: string;
}

/** The answer, undefined until it is there; why there is none, or none of late. */
export function useAnswer<T>(ask: () => Promise<T>, inputs: readonly unknown[]): Seen<T> {
  const [seen, setSeen] = useState<Seen<T>>({ fault: '' });
  useEffect(() => {
    let isCurrent = true;
    ask().then(
      (value) => isCurrent && setSeen({ value, fault: '' }),
      (error: unknown) => isCurrent && setSeen((old) => ({ ...old, fault: messageOf(error) })),
    );
    return () => {
      isCurrent = false;
    };
  }, [...inputs, comebacks.value]);
  return seen;
}
