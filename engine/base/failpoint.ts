// Named places where a test build may kill, throw or sleep (operations.md 6.2). Off unless armed,
// and then one comparison per pass. The engine never reads the environment: whoever opens a
// database arms them.
import { sleepSync } from './clock.js';

/** `full`: what LMDB says of a page that finds no room on the disk. */
type Action = 'kill' | 'throw' | 'sleep' | 'full';

let armed: { point: string; left: number; action: Action } | undefined;

/** Arms `point@n[:kill|throw|sleep|full]`; the n-th pass acts. Undefined disarms. */
export function armFailpoint(specification: string | undefined): void {
  armed = undefined;
  if (!specification) return;
  const match = /^(\w+)@(\d+)(?::(kill|throw|sleep|full))?$/.exec(specification);
  if (!match) return;
  armed = { point: match[1]!, left: Number(match[2]), action: (match[3] ?? 'kill') as Action };
}

/** Passes the place `point`; acts when it is armed and its count has run down. */
export function failpoint(point: string): void {
  if (armed === undefined || armed.point !== point) return;
  if (--armed.left > 0) return;
  const { action } = armed;
  armed = undefined;
  if (action === 'kill') process.kill(process.pid, 'SIGKILL');
  if (action === 'sleep') return sleepSync(2000);
  if (action === 'full') throw Object.assign(new FailpointError(noRoom), { code: 28 });
  throw new FailpointError(point);
}

const noRoom = 'Attempting to write page';

class FailpointError extends Error {
  override readonly name = 'FailpointError';
  constructor(readonly point: string) {
    super(`failpoint ${point}`);
  }
}
