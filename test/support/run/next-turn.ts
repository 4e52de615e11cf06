// Waits for a turn of the event loop. The runner gives up a process that does not run its event loop for a
// minute, so long loops of the long run call this now and then.
import { setImmediate } from 'node:timers/promises';

export const nextTurn = (): Promise<void> => setImmediate();
