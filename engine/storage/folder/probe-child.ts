// The child process of probe.ts: reads the data file named on its command line, as its standard input
// says, with no more haste than others leave.
import { readFileSync, writeSync } from 'node:fs';
import { setPriority } from 'node:os';
import { type CheckOptions, checkData } from '../page/data-check.js';

const given = JSON.parse(readFileSync(0, 'utf8')) as CheckOptions & { sums: number[] };
const sums = given.sums.length > 0 ? Uint32Array.from(given.sums) : undefined;
if (given.meta !== undefined) setPriority(10);
const answer = Buffer.from(JSON.stringify(checkData(process.argv[2]!, { ...given, sums })));
for (let at = 0; at < answer.length; ) at += writeSync(1, answer, at);
