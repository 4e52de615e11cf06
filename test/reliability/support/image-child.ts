// The child process of image-engine.ts: opens one data directory after another on this thread, as a
// start does, and answers calls about it. A line of JSON in, a line of JSON out. Damaged pages end
// this process by a signal, which is an answer too.
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { defaultLimits } from '../../../engine/base/limits.js';
import {
  type ExecutorServices,
  decodeCall,
  run,
} from '../../../engine/database/call/run-request.js';
import { openVectorStore } from '../../../engine/database/vectors/vector-store.js';
import { verifyStorage } from '../../../engine/database/maintenance/verify.js';
import { compile } from '../../../engine/lang/compile.js';
import type { Program } from '../../../engine/plan/program.js';
import { openDataDirectory } from '../../../engine/storage/folder/manifest.js';
import { openStorage } from '../../../engine/storage/open-storage.js';
import { createTextIndex } from '../../../engine/text/text-index.js';

export type Order =
  | { kind: 'open'; path: string; sources: { path: string; text: string }[] }
  | { kind: 'call'; name: string; body: string }
  | { kind: 'verify' }
  | { kind: 'close' };

const nothing = (): void => {};
const text = createTextIndex(defaultLimits);

function open(path: string, program: Program) {
  const directory = openDataDirectory(path);
  const storage = openStorage(join(path, 'graph'), { limits: defaultLimits, mode: 'create' });
  storage.applySchema(program, { text, nowMs: 1_700_000_000_000 });
  const vectors = openVectorStore(
    storage,
    {
      folder: join(path, 'vec'),
      dbUuid: directory.dbUuid,
      default: {
        metric: 'cosine',
        m: 16,
        efConstruction: 128,
        efSearch: 128,
        layout: 'auto',
        exact: false,
        memoryBytes: 2 ** 28,
      },
      types: {},
      snapshot: { intervalMs: 1e9, afterWrites: 1e9, keep: 2 },
    },
    {
      onIndex: nothing,
      onBuild: nothing,
      onRebuilt: nothing,
      onReplayed: nothing,
      onSnapshot: nothing,
      progress: nothing,
      log: nothing,
    },
  );
  const equipment: ExecutorServices = {
    limits: defaultLimits,
    strict: true,
    text,
    vectors: vectors.indexes,
  };
  return {
    call(name: string, body: string): string {
      const query = program.queries.find((candidate) => candidate.name === name)!;
      const args = decodeCall(query, Buffer.from(body), equipment);
      const request = {
        plan: query.plan,
        args,
        nowMicros: 1.7e15,
        deadline: Number.POSITIVE_INFINITY,
        budgetMs: 60_000,
        isCancelled: () => false,
      };
      return Buffer.from(run(request, storage.reader(), equipment).body).toString();
    },
    verify: () => verifyStorage(storage, { dbUuid: directory.dbUuid }),
    close() {
      storage.close();
      directory.close({ clean: false });
    },
  };
}

let opened: ReturnType<typeof open> | undefined;

function obey(order: Order): unknown {
  if (order.kind === 'open') {
    opened = open(order.path, compile(order.sources, { compat: false }).program!);
    return null;
  }
  if (order.kind === 'call') return JSON.parse(opened!.call(order.name, order.body));
  if (order.kind === 'verify') return opened!.verify();
  opened?.close();
  opened = undefined;
  return null;
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    process.stdout.write(`${JSON.stringify({ ok: obey(JSON.parse(line)) })}\n`);
  } catch (error) {
    const { stack, message, data } = error as Error & { data?: unknown };
    process.stdout.write(`${JSON.stringify({ error: data ?? stack ?? message })}\n`);
  }
}
