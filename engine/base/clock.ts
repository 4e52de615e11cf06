// The two clocks of the engine. What the world calls now is asked anew each time, since it is set
// and corrected while the engine runs; what is waited for and measured goes by a clock that nobody
// sets. Invariant: no deadline and no age depends on the wall clock, no instant that is stored or
// shown on the other one.

/** Unix time in milliseconds. It may step back. */
export const wallMs = (): number => Date.now();

/**
 * What `performance.now()` of a thread lacks to the clock that all threads of the process share.
 * `performance.timeOrigin` is no such thing: it is the wall clock at the start of the thread.
 */
export const sharedOriginMs: number = Math.max(...Array.from({ length: 5 }, lacking));

/** Too little by as much as the thread was kept from running between the two clocks. */
function lacking(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000 - performance.now();
}

/** Holds this thread for so long: where nothing else of it could go on. */
export function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Milliseconds on the clock that all threads share. */
export const sharedMs = (): number => sharedOriginMs + performance.now();
