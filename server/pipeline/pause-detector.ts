// Whether this process has stood still a moment ago: stopped by a signal, with its machine, or by a debugger. What is
// read then may be of clients that have long given up, and their requests look like any other. Invariant: no clock
// but the one that nobody sets.

const tickMs = 200;
/** So long without a turn of the event loop is no busy moment any more. */
const pauseMs = 1_500;
/** What had piled up meanwhile is read in so long. */
const shadowMs = 5_000;

let lastTick = performance.now();
let pausedAt = Number.NEGATIVE_INFINITY;

function tick(): void {
  const now = performance.now();
  if (now - lastTick > pauseMs) pausedAt = now;
  lastTick = now;
}

setInterval(tick, tickMs).unref();

export function hasPaused(): boolean {
  tick();
  return lastTick - pausedAt < shadowMs;
}
