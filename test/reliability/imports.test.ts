// Every way in which an import can begin and not end: afterwards nothing is held, neither a place nor
// a thread, and other imports, reloads and the end of the database go on. And parts and whole imports
// that are sent again because their answer was lost: they load nothing twice.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { ControlBlock, createControlBuffer } from '../../engine/database/call/control-block.js';
import { LoadRegistry } from '../../engine/database/load/load-registry.js';
import type { ImportHandler } from '../../server/handlers/import-handler.js';
import { type EmbeddedServer, openEmbedded } from '../support/server/embedded-server.js';
import { root } from '../support/project.js';
import { expectFigure } from '../support/run/figure.js';

const source = `
N::Thing { name: String }
V::Note { text: String }
QUERY count() => n <- N<Thing>::COUNT RETURN n
`;
/** Longer than one call takes on a machine with other work. */
const idleMs = 600;
const project = {
  sources: { 'main.hx': source },
  config: { 'limits.import_idle': `${idleMs}ms` },
};

const built = join(root, 'dist/server/handlers/import-handler.js');
const handlers = (await import(pathToFileURL(built).href)) as {
  ImportHandler: typeof ImportHandler;
};

let opened: EmbeddedServer;
let handler: ImportHandler;

async function open(folder?: string): Promise<void> {
  opened = await openEmbedded(project, folder);
  handler = new handlers.ImportHandler(() => opened.db.database);
}

beforeAll(() => open());
afterAll(() => opened.dispose());

const send = (query: string, body: string | Uint8Array, holder?: string) =>
  handler.handle(new URLSearchParams(query), Buffer.from(body as string), holder);
const rows = (count: number, from = 0): string =>
  Array.from(
    { length: count },
    (_, i) => `${JSON.stringify({ node: 'Thing', properties: { name: `n${from + i}` } })}\n`,
  ).join('');
const count = async (): Promise<number> => (await opened.db.call<{ n: number }>('count')).n;
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: { code?: string }) => error.code ?? String(error),
  );
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let lastName = 0;
const name = (): string => `import ${lastName++}`;

/** Four imports at a time, a reload, and one more: what held a place or a thread would stop them. */
async function expectAllFree(): Promise<void> {
  await pause(idleMs + 10);
  const before = await count();
  const names = [name(), name(), name(), name()];
  await Promise.all(names.map((one) => send(`name=${one}&more=1`, rows(2))));
  await opened.db.database.reload(opened.db.database.program);
  await Promise.all(names.map((one) => send(`name=${one}`, rows(1))));
  expect(await count()).toBe(before + 12);
}

const embedRow = '{"vector":"Note","embed":"words","properties":{"text":"t"}}\n';

const ways: Record<string, () => Promise<void>> = {
  'refused, again and again': async () => {
    const open = [name(), name(), name(), name()];
    await Promise.all(open.map((one) => send(`name=${one}&more=1`, rows(1))));
    const refused = await Promise.all(
      Array.from({ length: 8 }, () => codeOf(send(`name=${name()}`, rows(1)))),
    );
    expect(new Set(refused)).toEqual(new Set(['OVERLOADED']));
    for (const one of open) await send(`name=${one}`, '');
  },
  'more than their share by one caller': async () => {
    const begun: string[] = [];
    const begin = (holder: string): Promise<string> => {
      begun.push(name());
      return codeOf(send(`name=${begun.at(-1)}&more=1`, rows(1), holder));
    };
    const told: string[] = [];
    for (const who of ['hog', 'hog', 'hog', 'hog', 'other', 'other', 'third'])
      told.push(`${who} ${await begin(who)}`);
    expect(told).toEqual([
      // Alone, a caller gets all slots but one, which stays for others.
      ...['hog none', 'hog none', 'hog none', 'hog SHARE_EXCEEDED'],
      ...['other none', 'other SHARE_EXCEEDED', 'third OVERLOADED'],
    ]);
    // Their further parts, and one at a time.
    for (const one of begun.slice(0, 3)) await send(`name=${one}`, rows(1), 'hog');
    expect(await begin('third')).toBe('none');
    expect(await begin('hog')).toBe('none');
    expect(await begin('hog')).toBe('SHARE_EXCEEDED');
    // While another caller imports, one each, although two slots are free.
    await send(`name=${begun.at(-3)}`, rows(1), 'third');
    // Another part, so that a slow commit does not make the running import idle.
    await send(`name=${begun.at(-2)}&more=1`, rows(1), 'hog');
    expect(await begin('hog')).toBe('SHARE_EXCEEDED');
    // One that is idle makes room for another of the same caller.
    await pause(idleMs + 10);
    expect(await begin('hog')).toBe('none');
  },
  'abandoned between two parts': async () => {
    for (let i = 0; i < 4; i++) await send(`name=${name()}&more=1`, rows(3));
  },
  'abandoned without a byte': async () => {
    for (let i = 0; i < 4; i++) await send(`name=${name()}&more=1`, '');
  },
  'goes on after it gave its place away': async () => {
    const late = name();
    await send(`name=${late}&more=1`, rows(3));
    await pause(idleMs + 10);
    for (let i = 0; i < 4; i++) await send(`name=${name()}`, rows(1)).catch(() => undefined);
    const others = [name(), name(), name(), name()];
    await Promise.all(others.map((one) => send(`name=${one}&more=1`, rows(1))));
    expect(await codeOf(send(`name=${late}`, rows(3)))).toBe('NOT_FOUND');
    for (const one of others) await send(`name=${one}`, '');
    expect((await send(`name=${late}&at=0`, rows(3))).nodes).toBe(3);
  },
  'bytes that are no rows': async () => {
    for (const body of [
      '\x00\x00\n',
      Buffer.from([0xff, 0xfe, 10]),
      '\ufeff{}\n',
      '[[[[\n',
      '{"a',
    ]) {
      expect([body, (await send('', body)).rejected]).toEqual([body, 1]);
    }
  },
  'a text that cannot be embedded': async () => {
    for (let i = 0; i < 5; i++) {
      expect(await codeOf(send(`name=${name()}`, rows(2) + embedRow))).toMatch(/^EMBEDDING/);
    }
  },
  'a row that is refused, where none may be': async () => {
    const bad = '{"node":"Thing","properties":{"name":7}}\n';
    const before = await count();
    for (const query of ['strict=1', `name=${name()}&strict=1`]) {
      expect(await codeOf(send(query, rows(3) + bad + rows(2, 3)))).toBe('ROW_REFUSED');
    }
    const one = name();
    const { at } = await send(`name=${one}&strict=1&more=1&at=0`, rows(30_000));
    expect(await codeOf(send(`name=${one}&strict=1&at=${at}`, bad))).toBe('ROW_REFUSED');
    expect(await codeOf(send(`name=${one}&strict=1&at=${at}`, rows(1)))).toBe('NOT_FOUND');
    expect(await count()).toBe(before);
    expect((await send(`name=${one}&strict=1&at=0`, rows(3))).nodes).toBe(3);
    expect(await count()).toBe(before + 3);
  },
  'files that are mended': async () => {
    const file = (it: string) => [{ name: it, rows: [1, 2, 3], isUpsert: false }];
    const note = (one: string, files: unknown): unknown =>
      handler.noteFiles(new URLSearchParams({ name: one }), Buffer.from(JSON.stringify(files)));
    for (const files of [7, [7], [{}], [{ name: 'a', rows: ['x'], isUpsert: false }], null]) {
      expect(() => note(name(), files)).toThrow(/files/);
    }
    const before = await count();
    const first = name();
    note(first, file('a.csv'));
    const { at } = await send(`name=${first}&more=1&at=0`, rows(30_000));
    // Its first piece is on disk; its sender is gone, the file is mended.
    while ((await count()) === before) await pause(5);
    await pause(idleMs + 10);
    const second = name();
    note(second, file('a.csv'));
    await send(`name=${second}&at=0`, rows(40_000, 1));
    expect(await count()).toBe(before + 40_000);
    expect(await codeOf(send(`name=${first}&more=1&at=${at}`, rows(1)))).toBe('NOT_FOUND');
    const third = name();
    note(third, file('a.csv'));
    expect(await codeOf(send(`name=${third}&at=0`, rows(2)))).toBe('IMPORT_KNOWN');
    expect(await count()).toBe(before + 40_000);
    note(third, file('a.csv'));
    await send(`name=${third}&at=0&replace=1`, rows(2));
    expect(await count()).toBe(before + 2);
    const other = name();
    note(other, [{ name: 'a.csv', rows: [7, 8, 9], isUpsert: false }]);
    await send(`name=${other}&at=0`, rows(1));
    expect(await count()).toBe(before + 3);
  },
  'a part that begins at another place': async () => {
    const one = name();
    const { at } = await send(`name=${one}&more=1&at=0`, rows(2));
    expect(await codeOf(send(`name=${one}&more=1&at=${at + 1}`, rows(2)))).toBe('PARAM_VALUE');
    expect(await codeOf(send(`name=${one}`, rows(2)))).toBe('NOT_FOUND');
    expect(await codeOf(send(`name=${one}&at=x`, rows(2)))).toBe('PARAM_TYPE');
    expect(await codeOf(send('more=1', rows(2)))).toBe('PARAM_MISSING');
  },
  'other rows under the name of one that is over': async () => {
    const one = name();
    await send(`name=${one}`, rows(3));
    for (let i = 0; i < 5; i++) {
      for (const other of [rows(3, 1), rows(2), rows(4), '']) {
        expect(await codeOf(send(`name=${one}`, other))).toBe('PARAM_VALUE');
      }
    }
  },
  'parts of it at the same time': async () => {
    const one = name();
    const codes = await Promise.all(
      Array.from({ length: 4 }, () => codeOf(send(`name=${one}&more=1`, rows(1)))),
    );
    for (const code of codes) expect(['none', 'OVERLOADED']).toContain(code);
  },
  'reloads while it is open': async () => {
    const { database } = opened.db;
    const one = name();
    const part = send(`name=${one}&more=1`, rows(20_000));
    const { program } = database;
    await Promise.all([part, ...Array.from({ length: 4 }, () => database.reload(program))]);
  },
};

describe('an import that begins and does not end', () => {
  it.each(Object.keys(ways))('%s', async (way) => {
    await ways[way]!();
    await expectAllFree();
  });

  it('is ended with the database, which closes immediately and cleanly', async () => {
    const { folder, db } = opened;
    const before = await count();
    const late = name();
    await send(`name=${late}&more=1`, rows(2));
    for (let i = 0; i < 2; i++) await send(`name=${name()}&more=1`, rows(3));
    const part = codeOf(send(`name=${name()}`, rows(30_000)));
    const began = performance.now();
    await db.close();
    expectFigure(performance.now() - began, 5_000, 'ms to close');
    const isWhole = (await part) === 'none';
    await open(folder);
    expect([before, before + 30_000]).toContain(await count());
    expect((await count()) === before + 30_000 || !isWhole).toBe(true);
    await expectAllFree();
  });

  it('fails when its thread is killed, and gives everything back', async () => {
    const threads = new Piscina({
      filename: join(root, 'dist/engine/database/lane/worker.cjs'),
      maxThreads: 1,
    });
    const desk = new LoadRegistry(1e9);
    const setup = {
      role: 'loader',
      graphPath: join(opened.folder, 'data/graph'),
      limits: defaultLimits,
      textEnabled: true,
      textLanguage: 'english' as const,
    };
    const hooks = {
      start: (onEnd: (error?: Error) => void) => {
        const { port1, port2 } = new MessageChannel();
        threads
          .run({ ...setup, port: port2 }, { transferList: [port2] })
          .then(() => onEnd(), onEnd);
        return port1;
      },
      execute: () => Promise.resolve({ nodes: 0, edges: 0, vectors: 0, rejects: [] }),
      embed: () => Promise.resolve([]),
      checkRoom: () => undefined,
    };
    const many = Buffer.from(rows(40_000));
    for (let round = 0; round < 3; round++) {
      const load = opened.db.database.view((view) => desk.begin({ name: 'killed' }, view, hooks));
      const piece = (): Promise<unknown> => {
        const bytes = new Uint8Array(new ArrayBuffer(many.length));
        bytes.set(many);
        return load.rows(bytes, 1, { offset: 10, line: 2 });
      };
      await piece();
      const late = Promise.allSettled([piece(), piece()]);
      await threads.threads[0]!.terminate();
      expect((await late).map(({ status }) => status)).toContain('rejected');
      expect(load.isOver).toBe(true);
      await expect(piece()).rejects.toThrow();
      await desk.whileIdle(() => Promise.resolve());
    }
    await threads.destroy();
  });
});

describe('an import that is sent again', () => {
  it('is answered with its counts, after any other imports', async () => {
    const before = await count();
    const whole = name();
    const parts = name();
    const first = await send(`name=${whole}`, rows(5));
    expect(first).toMatchObject({ nodes: 5, rejected: 0 });
    const { at } = await send(`name=${parts}&more=1&at=0`, rows(4));
    await send(`name=${parts}&more=1&at=0`, rows(4));
    expect((await send(`name=${parts}&more=1&at=${at}`, rows(4, 4))).at).toBe(2 * at);
    await send(`name=${parts}&more=1&at=${at}`, rows(4, 4));
    expect(await send(`name=${parts}&at=${2 * at}`, rows(1))).toMatchObject({ nodes: 9 });
    const check = async () => {
      expect(await send(`name=${whole}`, rows(5))).toMatchObject({ nodes: 5, resumed: 0 });
      expect(await send(`name=${parts}`, rows(1))).toMatchObject({ nodes: 9 });
      expect(await send(`name=${parts}&at=${2 * at}`, rows(1))).toMatchObject({ nodes: 9 });
      const all = rows(4) + rows(4, 4) + rows(1);
      expect(await send(`name=${parts}&more=1&at=0`, all.slice(0, 50))).toMatchObject({ nodes: 0 });
      expect(await send(`name=${parts}`, all.slice(50))).toMatchObject({ nodes: 9 });
      expect(await count()).toBe(before + 14);
    };
    await check();
    const { folder } = opened;
    await opened.db.close();
    await open(folder);
    await check();
    await expectAllFree();
  });

  it('is known for as long as 4,096 others', async () => {
    const { database } = opened.db;
    const load = database.load('first of many');
    await load.finish({ part: { at: 0, bytes: 0, checksum: 0 } });
    expect(database.load('first of many').progress.end).toBeDefined();
  });
});

describe('a database that takes no writes', () => {
  it('refuses an import at its first part, and returns the counts of a finished one', async () => {
    const over = name();
    await send(`name=${over}`, rows(3));
    const { folder } = opened;
    await opened.db.close();
    opened = await openEmbedded(project, folder, { readOnly: true });
    for (const query of ['', `name=${name()}&more=1&at=0`, `name=${name()}&more=1`]) {
      expect([query, await codeOf(send(query, rows(1)))]).toEqual([query, 'READ_ONLY']);
    }
    expect(await send(`name=${over}`, rows(3))).toMatchObject({ nodes: 3, rejected: 0 });
    expect(await send(`name=${over}&more=1&at=0`, rows(2))).toMatchObject({ nodes: 0 });
    await opened.db.close();
    await open(folder);
  });
});

it('a thread that reads and does not end is ended', async () => {
  const pool = join(root, 'dist/engine/database/lane/thread-pool.js');
  const { ThreadPool } = (await import(
    pathToFileURL(pool).href
  )) as typeof import('../../engine/database/lane/thread-pool.js');
  const threads = new ThreadPool(64, new ControlBlock(createControlBuffer(0)));
  const setup = {
    role: 'loader' as const,
    graphPath: join(opened.folder, 'data/graph'),
    limits: defaultLimits,
    textEnabled: true,
    textLanguage: 'english' as const,
  };
  const ended: (string | undefined)[] = [];
  const port = threads.startLoader(setup, (error) => void ended.push(error?.message));
  // It is up, and nobody tells it to close.
  const bytes = new Uint8Array(Buffer.from(rows(1)));
  const answered = new Promise((resolve) => port.once('message', resolve));
  port.postMessage({ kind: 'rows', id: 1, bytes, line: 1, refresh: false, isLast: false });
  expect(await answered).toMatchObject({ id: 1 });
  await threads.close(100);
  expect(ended).toHaveLength(1);
});
