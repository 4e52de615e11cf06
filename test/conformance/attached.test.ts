// Threads that attach to an open database: in-place answers are those of the thread that opened it, hold
// every acknowledged write, change program with it, and end when it ends.
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import { compile } from '../../engine/lang/compile.js';
import type { EmbeddedDatabase } from '../../engine/public.js';
import { makeFolder, root } from '../support/project.js';

const entry = pathToFileURL(join(root, 'dist/bin/index.js')).href;
const { open } = (await import(entry)) as typeof import('../../engine/public.js');

const long = process.env.TRELLIS_TEST_LONG === '1';

const schema = `
N::Note { UNIQUE INDEX no: I64, body: String }
N::Counter { UNIQUE INDEX name: String, value: I64 }
E::Next { From: Note, To: Note }
V::Point { no: I64 }
`;
const queries = (version: number) => `
QUERY add(no: I64, body: String) => n <- AddN<Note>({ no: no, body: body }) RETURN n::{no}
QUERY link(a: I64, b: I64) =>
  e <- AddE<Next>::From(N<Note>({no: a}))::To(N<Note>({no: b}))
  RETURN "linked"
QUERY put(no: I64, vec: [F64]) => v <- AddV<Point>(vec, { no: no }) RETURN v::{no}
QUERY note(no: I64) => n <- N<Note>({no: no}) RETURN n::{no, body, next: _::Out<Next>::{no}}
QUERY notes() => n <- N<Note>::COUNT RETURN n
QUERY near(vec: [F64]) => v <- SearchV<Point>(vec, 3) RETURN v::{no, score}
QUERY said(text: String) => n <- SearchBM25<Note>(text, 3) RETURN n::{no}
QUERY grow() => c <- N<Counter>({name: "c"})::UPDATE({value: ADD(_::{value}, 1)}) RETURN c::{value}
QUERY value() => c <- N<Counter>({name: "c"}) RETURN c::{value}
QUERY start() => c <- AddN<Counter>({name: "c", value: 0}) RETURN c::{value}
QUERY version() => RETURN ${version}
`;
const sourcesOf = (version: number, more = '') => [
  { path: 'main.hx', text: schema + more + queries(version) },
];

const script = `
  import { parentPort } from 'node:worker_threads';
  const { attach } = await import(${JSON.stringify(entry)});
  let db;
  parentPort.on('message', async ({ id, kind, name, args, attachment, count }) => {
    try {
      let result;
      if (kind === 'attach') db = await attach(attachment);
      else if (kind === 'close') await db.close();
      else if (kind === 'many') {
        result = [];
        for (let i = 0; i < count; i++) {
          const answer = db.callBytes(name, args);
          result.push([answer instanceof Promise, Buffer.from(await answer).toString()]);
          if (i % 64 === 63) await new Promise((resolve) => setImmediate(resolve));
        }
      } else result = Buffer.from(await db.callBytes(name, args)).toString();
      parentPort.postMessage({ id, result });
    } catch (error) {
      parentPort.postMessage({ id, code: error.code ?? String(error) });
    }
  });
`;

/** A thread that makes calls on request. */
class Thread {
  readonly worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`));
  readonly #waiting = new Map<number, (answer: { result?: unknown; code?: string }) => void>();
  #lastId = 0;

  constructor() {
    this.worker.on('message', (answer: { id: number; result?: unknown; code?: string }) => {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  ask(message: object, transfer: readonly unknown[] = []): Promise<unknown> {
    const id = ++this.#lastId;
    this.worker.postMessage({ id, ...message }, transfer as never);
    return new Promise((resolve) => {
      this.#waiting.set(id, ({ result, code }) => resolve(code ?? result));
    });
  }

  attach(db: EmbeddedDatabase): Promise<unknown> {
    const attachment = db.attachment();
    return this.ask({ kind: 'attach', attachment }, [attachment.port]);
  }

  call(name: string, args: object = {}): Promise<unknown> {
    return this.ask({ kind: 'call', name, args });
  }
}

const threads: Thread[] = [];
const opened: EmbeddedDatabase[] = [];
afterAll(async () => {
  for (const { worker } of threads) await worker.terminate();
  for (const db of opened) await db.close().catch(() => undefined);
});

async function openWith(count: number, workers = 0): Promise<[EmbeddedDatabase, Thread[]]> {
  const dataDir = join(makeFolder(), 'data');
  const db = await open({ dataDir, sources: sourcesOf(1), minFreeBytes: 0, workers });
  opened.push(db);
  const own = Array.from({ length: count }, () => new Thread());
  threads.push(...own);
  expect(await Promise.all(own.map((thread) => thread.attach(db)))).toEqual(
    own.map(() => undefined),
  );
  return [db, own];
}

const textOf = async (db: EmbeddedDatabase, name: string, args: object = {}) =>
  Buffer.from(await db.callBytes(name, args as never)).toString();

describe('attached threads', () => {
  it('answer as the thread that opened the database does, and see every acknowledged write', async () => {
    const [db, own] = await openWith(2);
    for (let no = 0; no < 30; no++) {
      const writer = own[no % 2]!;
      expect(await writer.call('add', { no, body: `words of ${no}` })).toBe(`{"n":{"no":${no}}}`);
      if (no > 0) await db.call('link', { a: no - 1, b: no });
      await db.call('put', { no, vec: [no, 1] });
      for (const [name, args] of [
        ['note', { no }],
        ['note', { no: no - 1 }],
        ['notes', {}],
        ['near', { vec: [no, 1] }],
        ['said', { text: `${no}` }],
      ] as const) {
        const wanted = await textOf(db, name, args).catch((error: { code: string }) => error.code);
        for (const thread of own) expect(await thread.call(name, args), name).toBe(wanted);
      }
    }
    const wrong = [
      ['nothing', {}, 'NOT_FOUND'],
      ['note', {}, 'PARAM_MISSING'],
      ['note', { no: 'x' }, 'PARAM_TYPE'],
      ['note', { no: 99 }, 'NO_VALUE_FOUND'],
      ['add', { no: 1, body: '' }, 'UNIQUE_VIOLATION'],
    ] as const;
    for (const [name, args, code] of wrong) expect(await own[0]!.call(name, args)).toBe(code);
    const many = (await own[0]!.ask({
      kind: 'many',
      name: 'note',
      args: { no: 3 },
      count: 600,
    })) as [boolean, string][];
    expect(many.filter(([hopped]) => hopped)).toEqual([]);
    await expect.poll(() => countOf(db, 'note')).toBeGreaterThan(600);
  });

  it('never show a counter below what was acknowledged before', async () => {
    const [db, own] = await openWith(2);
    await db.call('start');
    let acknowledged = 0;
    let running = true;
    const rounds = long ? 2_000 : 30;
    const readers = own.map(async (thread) => {
      let looks = 0;
      while (running) {
        const least = acknowledged;
        const { c } = JSON.parse((await thread.call('value')) as string) as {
          c: { value: number };
        };
        expect(c.value).toBeGreaterThanOrEqual(least);
        looks++;
      }
      return looks;
    });
    for (let i = 1; i <= rounds; i++) {
      await (i % 3 === 0 ? own[0]!.call('grow') : db.call('grow'));
      acknowledged = i;
    }
    running = false;
    for (const looks of await Promise.all(readers)) expect(looks).toBeGreaterThan(0);
    expect(await own[1]!.call('value')).toBe(`{"c":{"value":${rounds}}}`);
  });

  it('change their program together with the database', async () => {
    const [db, own] = await openWith(2);
    const first = await own[0]!.call('version');
    for (let version = 2; version <= (long ? 60 : 6); version++) {
      const busy = own.map((thread) => thread.ask({ kind: 'many', name: 'version', count: 200 }));
      const more = version % 2 === 0 ? '' : `N::Extra${version} { name: String }\n`;
      const { program } = compile(sourcesOf(version, more), { compat: false });
      await db.database.reload(program!);
      const wanted = await textOf(db, 'version');
      expect(wanted).toBe((first as string).replace('1', `${version}`));
      const after = await Promise.all(own.map((thread) => thread.call('version')));
      expect(after).toEqual(own.map(() => wanted));
      for (const answers of (await Promise.all(busy)) as [boolean, string][][]) {
        const seen = answers.map(([, text]) => Number(/\d+/.exec(text.split(':')[1]!)![0]));
        expect(seen).toEqual([...seen].sort((a, b) => a - b));
      }
    }
  });

  it('end with the database, and it does not wait for those that have ended', async () => {
    const [db, [one, two, three]] = (await openWith(3, 1)) as [EmbeddedDatabase, Thread[]];
    await db.call('add', { no: 1, body: 'a' });
    await three!.ask({ kind: 'close' });
    expect(await three!.call('notes')).toBe('DATABASE_CLOSED');
    await two!.worker.terminate();
    expect(await one!.call('notes')).toBe('{"n":1}');
    await db.close();
    for (const name of ['notes', 'add']) {
      expect(await one!.call(name, { no: 2, body: 'b' })).toBe('DATABASE_CLOSED');
    }
    expect(() => db.attachment()).toThrow(expect.objectContaining({ code: 'DATABASE_CLOSED' }));
  });

  it('a thread with no work left ends automatically', async () => {
    const [db] = await openWith(0);
    const code = `
      import { workerData } from 'node:worker_threads';
      const { attach } = await import(${JSON.stringify(entry)});
      const db = await attach(workerData);
      await db.call('add', { no: 7, body: 'seven' });
      await db.call('note', { no: 7 });
    `;
    const attachment = db.attachment();
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
      workerData: attachment,
      transferList: [attachment.port],
    });
    expect(await once(worker, 'exit')).toEqual([0]);
    expect(await textOf(db, 'notes')).toBe('{"n":1}');
  });

  it('what is no attachment is refused', async () => {
    const { attach } = (await import(entry)) as typeof import('../../engine/public.js');
    for (const wrong of [undefined, null, 7, {}, { port: 1 }]) {
      await expect(attach(wrong as never)).rejects.toMatchObject({ code: 'PARAM_TYPE' });
    }
  });
});

function countOf(db: EmbeddedDatabase, query: string): number {
  const sample = db.database
    .metrics()
    .find(({ name, labels }) => name === 'query_duration_seconds_count' && labels?.query === query);
  return sample?.value ?? 0;
}
