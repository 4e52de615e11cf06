// The child process of probe.ts: reads every key and value of the environment named on its command
// line.
import { writeSync } from 'node:fs';
import { type Report, readEverything } from './check-report.js';
import { openEnv } from './env.js';

const damagedMax = 100;

const env = openEnv(process.argv[2]!);
const damaged: string[] = [];
const report: Report = {
  add(_, what) {
    if (damaged.length < damagedMax) damaged.push(what);
  },
};
const entries = readEverything(env, report);
writeSync(1, JSON.stringify({ entries, damaged }));
env.close();
