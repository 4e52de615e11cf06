// Loaded into every thread of a server (`node --import`): every few seconds all garbage is collected
// there, and what the heap holds then goes as a line to the file that TEST_RETAINED names. What is in
// use rises until V8 thinks a collection worth it; what is retained does not, unless something leaks.
// V8 doubles the space for young objects, up to 32 MB a thread, whenever as much as it holds has lived
// through collections since the last time: at a low rate that goes on for hours, and looks like a leak.
// Here it takes all at its first growth, so that whatever else resident memory does is seen.
// The same with code: a function is optimised after it has run 200 KB of bytecode, three times 66 KB, which takes what
// a timer does once a second an hour; and code that five collections have not seen in use is thrown away, which is
// a quarter of a minute at this pace. Here code is made sixteen times as soon, and stays.
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
