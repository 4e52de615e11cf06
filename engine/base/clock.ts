// The two clocks of the engine. The wall clock is read for each use, because it can be set while
// the engine runs. Waits and measurements use a monotonic clock.
// Invariant: no deadline and no age depends on the wall clock; no stored or displayed instant
// depends on the monotonic clock.

/** Returns Unix time in milliseconds. The value can decrease. */
export const wallMs = (): number => Date.now();

/**
 * Milliseconds to add to `performance.now()` of this thread to get the clock that all threads of the process
 * share. `performance.timeOrigin` cannot replace it: that is the wall clock at the start of the thread.
 */
export const sharedOriginMs: number = Math.max(...Array.from({ length: 5 }, lacking));

/**
 * Returns an estimate of the offset. It is too small by the time that the thread was suspended
 * between the two readings.
 */
function lacking(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000 - performance.now();
}

/** Blocks this thread for `ms` milliseconds. */
export function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Returns the milliseconds of the clock that all threads share. */
export const sharedMs = (): number => sharedOriginMs + performance.now();
