// The entry of a front, compiled file by file.
import { parentPort, workerData } from 'node:worker_threads';
import { serveFront } from './http-thread.js';
import type { FrontSetup } from './setup.js';

serveFront(parentPort!, workerData as FrontSetup);
