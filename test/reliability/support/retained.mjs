// Loaded into every thread of a server (`node --import`). Every few seconds it collects all garbage, and
// appends the retained heap size to the file that TEST_RETAINED names. The used heap grows until V8 collects;
// the retained heap grows only with a leak. V8 doubles the young generation, up to 32 MB a thread, whenever
// as much as its size has survived collections. At a low rate this continues for hours and looks like a leak,
// so here V8 takes the full size at the first growth. Compiled code behaves in the same way. V8 optimizes a
// function after 200 KB of bytecode, or three times 66 KB, which a timer that runs once a second reaches
// after an hour. V8 also drops code that is unused during five collections, which is a quarter of a minute at
// this pace. Here V8 compiles sixteen times as early, and keeps the code.
import { appendFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { threadId } from 'node:worker_threads';

const everyMs = 2_500;

setFlagsFromString('--expose-gc');
setFlagsFromString('--semi-space-growth-factor=16');
setFlagsFromString('--interrupt-budget=4224');
setFlagsFromString('--no-flush-bytecode');
const collect = runInNewContext('gc');

setInterval(() => {
  collect();
  const line = JSON.stringify({ thread: threadId, bytes: process.memoryUsage().heapUsed });
  appendFileSync(process.env.TEST_RETAINED, `${line}\n`);
}, everyMs).unref();
