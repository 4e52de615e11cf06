// Detects whether this process was stopped a moment ago: by a signal, by a debugger, or with its machine.
// Requests that are read then may come from clients that gave up long ago, and look like any other request.
// Invariant: the time comes from a clock that cannot be set.

const tickMs = 200;
/** Even a busy event loop completes a turn within this many milliseconds. */
const pauseMs = 1_500;
/** Requests that arrived during the pause are read within this many milliseconds. */
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
