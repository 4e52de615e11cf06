// Runs around every test file, and cleans up what the file started or wrote. Files share processes of the
// runner, so the end of a process is too late. No file may block the event loop of its process for long.
// Otherwise, the runner gives up the process after a minute, fails every later file in it without a name, and
// starts no later part of the run.
import { afterAll, afterEach } from 'vitest';
import { removeFolders } from '../project.js';
import { killServers } from '../server/server.js';
import { nextTurn } from './next-turn.js';

const keptMsMax = 45_000;

// Processor time as well as the time of the clock: on a machine with other work a file gets few turns
// through no fault of its own.
const now = performance.now.bind(performance);
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
let last = { clock: now(), cpu: cpuMs() };
let kept = 0;
const take = (): void => {
  const next = { clock: now(), cpu: cpuMs() };
  kept = Math.max(kept, Math.min(next.clock - last.clock, next.cpu - last.cpu));
  last = next;
};
const beat = setInterval(take, 1_000).unref();

// Tests that wait for nothing follow one another without a turn.
afterEach(nextTurn);

// Registered before the hooks of the file, hence run after them.
afterAll(() => {
  clearInterval(beat);
  killServers();
  removeFolders();
  take();
  if (kept < keptMsMax) return;
  const seconds = (kept / 1000).toFixed(0);
  throw new Error(
    `The loop of events stood for ${seconds} s: take a turn (next-turn.ts) meanwhile.`,
  );
});
