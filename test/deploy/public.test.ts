// The public interface of the package: the names that its built entry exports, their documentation, and the
// form of its errors for callers.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { TrellisError as ClientError } from '../../server/client/client.js';
import { makeFolder, root } from '../support/project.js';

const entry = pathToFileURL(join(root, 'dist/bin/index.js')).href;
const engine = (await import(entry)) as typeof import('../../engine/public.js');
const sources = [
  {
    path: 'app.hx',
    text: `N::Person { UNIQUE INDEX name: String }
      QUERY add(name: String) => p <- AddN<Person>({ name: name }) RETURN p::{name}
      QUERY people() => p <- N<Person> RETURN p::{name}`,
  },
];
const more = [{ path: 'app.hx', text: `${sources[0]!.text} QUERY one() => RETURN 1` }];
const minFreeBytes = 0;

const values = ['TrellisError', 'attach', 'createCluster', 'errorCodes', 'foundCluster', 'open'];
const types = [
  ...['AttachedDatabase', 'Attachment', 'ClusterNode', 'ClusterOptions', 'ClusterPosition'],
  ...['EmbeddedDatabase', 'Embedder', 'ErrorCode', 'ErrorData', 'OpenOptions'],
  ...['QueryArguments', 'QueryCaller'],
];

describe('the names', () => {
  it('the built entry exports exactly the public values', () => {
    expect(Object.keys(engine).sort()).toEqual(values);
    expect(engine.foundCluster).toBe(engine.createCluster);
  });

  it('the declarations export exactly the public names, at most 20, each documented with an example', () => {
    const path = join(root, 'dist/types/engine/public.d.ts');
    const program = ts.createProgram([path], { module: ts.ModuleKind.NodeNext, types: ['node'] });
    const checker = program.getTypeChecker();
    const module = checker.getSymbolAtLocation(program.getSourceFile(path)!)!;
    const names = checker.getExportsOfModule(module);
    expect(names.map(({ name }) => name).sort()).toEqual([...values, ...types].sort());
    expect(names.length).toBeLessThanOrEqual(20);
    const undocumented = names.filter((name) => {
      const symbol = checker.getAliasedSymbol(name);
      const hasExample = symbol.getJsDocTags(checker).some((tag) => tag.name === 'example');
      return !hasExample || symbol.getDocumentationComment(checker).length === 0;
    });
    expect(undocumented.map(({ name }) => name)).toEqual([]);
  });

  it('the declarations compile without `skipLibCheck` and without a browser, by both ways to resolve', () => {
    const types = ['engine/public', 'server/client/client'];
    const files = types.map((name) => join(root, 'dist/types', `${name}.d.ts`));
    const base = { strict: true, noEmit: true, types: ['node'], target: ts.ScriptTarget.ES2023 };
    const faults = [
      { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
      { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
    ].flatMap((way) => {
      const options = { ...base, ...way, lib: ['lib.es2023.d.ts'], skipLibCheck: false };
      const program = ts.createProgram(files, options);
      return ts
        .getPreEmitDiagnostics(program)
        .filter(({ file }) => file?.fileName.includes('/dist/types/'))
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
    });
    expect(faults).toEqual([]);
  });

  it('the declarations need no type of a dependency or of a browser', () => {
    const folder = join(root, 'dist/types');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const named = files.filter((path) => {
      if (!path.endsWith('.d.ts')) return false;
      const text = readFileSync(join(folder, path), 'utf8');
      return /lmdb|WebAssembly|piscina|typebox/.test(text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''));
    });
    expect(files.length).toBeGreaterThan(10);
    expect(named).toEqual([]);
  });
});

describe('a database', () => {
  it('reloads, backs up, writes snapshots and says how it is, without its internal part', async () => {
    const folder = makeFolder();
    const db = await engine.open({ dataDir: join(folder, 'data'), sources, minFreeBytes });
    try {
      await db.call('add', { name: 'Ada' });
      await db.reload(more);
      expect(await db.call('one')).toEqual({ data: 1 });
      expect((await db.backUp(join(folder, 'copy'))).bytes).toBeGreaterThan(0);
      await db.snapshot();
      expect(db.status()).toMatchObject({ phase: 'serving', writes: true });
      expect(db.metrics().find(({ name }) => name === 'writes_total')).toBeDefined();
      expect(db.cluster).toBeUndefined();
      const wrong = [{ path: 'app.hx', text: 'QUERY' }];
      await expect(db.reload(wrong)).rejects.toMatchObject({ code: 'SOURCE_INVALID' });
      await expect(db.reload('QUERY' as never)).rejects.toMatchObject({ code: 'PARAM_TYPE' });
    } finally {
      await db.close();
    }
    const copy = await engine.open({ dataDir: join(folder, 'copy'), sources, minFreeBytes });
    expect(await copy.call('people')).toEqual({ p: [{ name: 'Ada' }] });
    await copy.close();
  });
});

describe('an error', () => {
  /** What a program prints that ends by an error of `line`. */
  function printed(line: string): string {
    const folder = makeFolder();
    const file = join(folder, 'app.mjs');
    const open = `const db = await open(${JSON.stringify({ dataDir: join(folder, 'data'), sources, minFreeBytes })});`;
    writeFileSync(file, `import { open } from '${entry}';\n${open}\n${line}\n`);
    try {
      execFileSync(process.execPath, [file], { encoding: 'utf8', stdio: 'pipe' });
      return '';
    } catch (error) {
      return (error as { stderr: string }).stderr;
    }
  }

  it.each([
    ['uncaught', "await db.call('add', { name: 1 });", 3],
    [
      'logged',
      "await db.call('add', { name: 1 }).catch((error) => console.error(error)); process.exit(1)",
      3,
    ],
    [
      'of an awaited write',
      "await db.call('add', { name: 'A' });\nawait db.call('add', { name: 'A' });",
      4,
    ],
    ['of an option', "await open({ dataDir: 'x' });", 3],
  ])('%s is one readable block that points at the caller', (_, line, at) => {
    const text = printed(line);
    expect(text).toMatch(/^TrellisError: .*\n {4}at .*app\.mjs/m);
    expect(text).toMatch(/code: '[A-Z_]+',\n {2}status: \d+/);
    expect(text).toContain(`app.mjs:${at}`);
    expect(text).not.toMatch(/dist\/bin\/[^/]*\.c?js:\d+:\d+\)?$/m);
    expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThan(400);
    expect(text.split('\n').length).toBeLessThan(25);
  });

  it('has code, hint, path, status and whether a retry may help on the object', async () => {
    const db = await engine.open({ dataDir: join(makeFolder(), 'data'), sources, minFreeBytes });
    const error = await db.call('add', { name: 1 }).catch((error: unknown) => error);
    await db.close();
    expect(error).toBeInstanceOf(engine.TrellisError);
    expect(error).toMatchObject({
      code: 'PARAM_TYPE',
      status: 400,
      path: '/name',
      hint: 'For example "text".',
      args: { param: 'name' },
      retryable: false,
    });
  });

  it('is known by `instanceof` to the classes of the engine and of the client alike', () => {
    const ofEngine = new engine.TrellisError({ code: 'NOT_FOUND', args: {} });
    const ofClient = new ClientError({ code: 'NOT_FOUND', error: 'gone' }, 404);
    for (const error of [ofEngine, ofClient]) {
      expect(error instanceof engine.TrellisError).toBe(true);
      expect(error instanceof ClientError).toBe(true);
      expect(error).toMatchObject({ code: 'NOT_FOUND', status: 404, data: { code: 'NOT_FOUND' } });
    }
    for (const other of [new Error('x'), { code: 'NOT_FOUND' }, null, undefined, 'TrellisError']) {
      expect(other instanceof engine.TrellisError).toBe(false);
      expect(other instanceof ClientError).toBe(false);
    }
    class Own extends ClientError {}
    expect(ofClient instanceof Own).toBe(false);
    expect(new Own({}, 400) instanceof Own).toBe(true);
  });
});
