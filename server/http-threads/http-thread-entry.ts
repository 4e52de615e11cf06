// Entry point of an HTTP thread when the sources are compiled file by file.
import { parentPort, workerData } from 'node:worker_threads';
import { runHttpThread } from './http-thread.js';
import type { HttpThreadSetup } from './setup.js';

runHttpThread(parentPort!, workerData as HttpThreadSetup);
