// A turn of the event loop. What reckons for a minute without one is given up by the runner, which
// hears nothing from it: loops of the long run take one now and then.
import { setImmediate } from 'node:timers/promises';

export const nextTurn = (): Promise<void> => setImmediate();
