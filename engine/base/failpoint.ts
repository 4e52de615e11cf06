// Named points where a test can kill the process, throw, sleep or report a full disk. They are off
// until armed and then cost one comparison per pass. The caller that opens a database arms them;
// the engine never reads the environment.
import { sleepSync } from './clock.js';

/** `full` reports the LMDB error of a page that finds no space on the disk. */
type Action = 'kill' | 'throw' | 'sleep' | 'full';

let armed: { point: string; left: number; action: Action } | undefined;

/**
 * Arms `point@n[:kill|throw|sleep|full]`: the action happens on the n-th pass. Undefined disarms
 * every failpoint.
 */
export function armFailpoint(specification: string | undefined): void {
  armed = undefined;
  if (!specification) return;
  const match = /^(\w+)@(\d+)(?::(kill|throw|sleep|full))?$/.exec(specification);
  if (!match) return;
  armed = { point: match[1]!, left: Number(match[2]), action: (match[3] ?? 'kill') as Action };
}

/** Counts a pass through `point`, and performs its action when the armed count is reached. */
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
