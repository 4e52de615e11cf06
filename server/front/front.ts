// The entry of a front: a thread that takes its share of the connections, answers short reads, and passes
// all else on. Invariant: its transport is closed before the thread ends, however the thread ends by
// itself: Node ends a process with a thread whose loop has open handles. So nobody ends it from outside.
import { parentPort, workerData } from 'node:worker_threads';
import { Attached, armFailpoint, assert, failpoint } from '../../engine/index.js';
import { SharedRate } from '../auth/rate.js';
import { loadUws, openUwsTransport } from '../http/http.js';
import { Forwarder } from './forwarder.js';
import { FrontDesk } from './front-desk.js';
import { guardHeap } from './heap-guard.js';
import type { FrontSetup } from './setup.js';
import { SharedCounts } from './shared-counts.js';
import { SharedWords } from './shared-words.js';
import { type FrontItem, type FromFront, Outbox, type ToFront } from './wire.js';

const port = parentPort!;
const setup = workerData as FrontSetup;
const { row, rows, attachment, rates, transport: transportOptions } = setup;
const post = (message: FromFront): void => port.postMessage(message);

const counts = new SharedCounts(rows, setup.counts);
const words = new SharedWords(setup.words);
const outbox = new Outbox<FrontItem>(port);
const forwarder = new Forwarder(outbox, (query, micros) => attached.learn(query, micros));
const desk = new FrontDesk({
  words,
  keys: setup.keys,
  security: {
    ...setup.security,
    rateFor: (bound, limit) => new SharedRate(limit, rates[bound]),
  },
  telling: setup.telling,
  forwarder,
  post,
  hear: (startedAt) => counts.hear(row, startedAt),
});
const attached = new Attached(attachment, {
  isIdle: () => forwarder.waiting === 0,
  onProgram: (queries) => desk.adopt(queries),
});

let exitCode = 0;

/** Connections that were dealt before the main thread ceased to are taken first. */
function close(closeTransport: () => void): void {
  setImmediate(() =>
    setImmediate(() => {
      closeTransport();
      void attached.close().finally(() => process.exit(exitCode));
    }),
  );
}

function giveUp(error: unknown): void {
  if (exitCode !== 0) return;
  exitCode = 1;
  post({ kind: 'failed', error });
}

async function serve(): Promise<void> {
  const uws = loadUws();
  assert(uws, 'the main thread has loaded what its fronts load');
  await attached.ready;
  desk.begin(attached);
  const transport = openUwsTransport(uws, {
    ...transportOptions,
    receiver: desk,
    counts: counts.of(row),
    total: (name) => counts.total(name),
  });
  let isClosed = false;
  const closeTransport = (): void => {
    if (isClosed) return;
    isClosed = true;
    transport.close();
  };
  process.on('exit', closeTransport);
  process.on('uncaughtException', giveUp);
  guardHeap(giveUp);
  armFailpoint(setup.failpoint);
  port.on('message', (message: ToFront) => {
    failpoint('frontMessage');
    switch (message.kind) {
      case 'batch':
        return forwarder.receive(message);
      case 'keys':
        return desk.renewKeys(message.version, message.list);
      case 'close':
        return close(closeTransport);
    }
  });
  post({ kind: 'ready', descriptor: transport.descriptor });
}

void serve();
