// Runs around every test file: nothing that it started or wrote outlives it. Files share processes of
// the runner, so that the end of a process comes too late. And no file may keep its process from its
// events for long: the runner hears nothing from it then, gives it up after a minute, fails every later
// file of that process without a name, and begins no later part of the run.
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
