// The rules of the code base as tests: which folder may import which, how long things may be, which calls are banned,
// and that every error code, failpoint and limit of the compiled module is covered. Names: file-names.test.ts.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorCodes } from '../engine/base/errors.js';
import { caseFiles } from './support/corpus/case.js';
import { betterName, declaredNames, isFixedName } from './support/names/declared-names.js';
import { readPages } from './support/page.js';
import { root } from './support/project.js';
import { detoursOf, unusedExports } from './support/names/source-names.js';
import {
  exportsOf,
  functionsOf,
  readSources,
  resolveImport,
  textsOf,
  trackedFiles,
  type SourceFile,
  usesOf,
} from './support/source-tree.js';

const engine = readSources('engine');
const server = readSources('server');
const bench = existsSync(join(root, 'bench')) ? readSources('bench') : [];
const tests = readSources('test');
const wasm = readSources('wasm');
const all = [...engine, ...server, ...bench, ...tests];

/** Rooms of the engine, and what each may import besides itself. */
const mayImport: Record<string, string[]> = {
  base: [],
  plan: ['base'],
  lang: ['plan', 'base'],
  json: ['plan', 'vector', 'base'],
  session: ['plan', 'json', 'base'],
  fs: [],
  system: ['base'],
  storage: ['fs', 'system', 'base'],
  vector: ['fs', 'base', 'wasm'],
  text: ['storage', 'base'],
  embed: ['system', 'base'],
  contract: ['plan', 'base'],
  cluster: ['storage', 'system', 'base'],
  exec: ['plan', 'json', 'storage', 'vector', 'text', 'base'],
  database: [
    'exec',
    'session',
    'contract',
    'cluster',
    'embed',
    'text',
    'vector',
    'storage',
    'fs',
    'system',
    'json',
    'lang',
    'plan',
    'base',
  ],
};

/** What others import by its own name: a program, and a page in a browser. */
const isFace = (path: string): boolean =>
  path === 'engine/internal.ts' ||
  path === 'engine/public.ts' ||
  path === 'server/client/client.ts';

const roomOf = (path: string): string =>
  path.startsWith('engine/')
    ? path.split('/').length === 2
      ? 'face'
      : path.split('/')[1]!
    : path.split('/')[0]!;

function importFault(file: SourceFile, from: string): string | undefined {
  const room = roomOf(file.path);
  if (!/^(engine|server|bench|test|wasm)\//.test(from)) return undefined;
  const target = roomOf(from);
  if (room === target || room === 'bench' || room === 'test') return undefined;
  // The client for browsers has none of the engine but how values are written.
  const isWritten = from === 'engine/json/json-text.ts' && file.path.startsWith('server/client/');
  if (isWritten) return undefined;
  if (room === 'server')
    return from === 'engine/internal.ts' ? undefined : 'only engine/internal.ts';
  if (room === 'face') return from.startsWith('engine/') ? undefined : 'nothing outside the engine';
  if (target === 'wasm' && from !== 'wasm/layout.ts') return 'of wasm only layout.ts';
  return mayImport[room]?.includes(target) ? undefined : `${room} may not import ${target}`;
}

const list = (faults: string[]): void => {
  if (faults.length > 0) expect.fail(`${faults.length} faults\n${faults.join('\n')}`);
};

describe('imports', () => {
  test('layers point down only', () => {
    list(
      all.flatMap((file) =>
        file.imports.flatMap(({ from, line }) => {
          const fault = importFault(file, from);
          return fault === undefined ? [] : [`${file.path}:${line} imports ${from}: ${fault}`];
        }),
      ),
    );
  });

  /** Ways from a name back to itself; types count like values. */
  const cyclesOf = (graph: ReadonlyMap<string, Iterable<string>>): string[] => {
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (name: string, trail: string[]): void => {
      const at = trail.indexOf(name);
      if (at >= 0) cycles.push([...trail.slice(at), name].join(' -> '));
      if (at >= 0 || done.has(name)) return;
      for (const next of graph.get(name) ?? []) visit(next, [...trail, name]);
      done.add(name);
    };
    for (const name of graph.keys()) visit(name, []);
    return cycles;
  };
  /** Both compilers' sources: wasm names modules without an ending. */
  const everything = [...all, ...wasm];
  const isSource = new Set(everything.map(({ path }) => path));
  const importsOf = ({ imports }: SourceFile): string[] =>
    imports
      .map(({ from }) => (isSource.has(from) ? from : `${from}.ts`))
      .filter((to) => isSource.has(to));

  test('no cycles between files', () => {
    list(cyclesOf(new Map(everything.map((file) => [file.path, importsOf(file)]))));
  });

  test('no cycles between rooms', () => {
    const rooms = new Map<string, Set<string>>();
    for (const file of everything) {
      // Kits of tests serve tests of other rooms.
      if (file.path.startsWith('test/')) continue;
      const room = dirname(file.path);
      const others = rooms.get(room) ?? new Set();
      for (const to of importsOf(file)) {
        // The drawing of the memory is read by both compilers and by every room that works on it.
        if (dirname(to) !== room && to !== 'wasm/layout.ts') others.add(dirname(to));
      }
      rooms.set(room, others);
    }
    list(cyclesOf(rooms));
  });

  test('one owner per foreign thing', () => {
    const owners: [RegExp, RegExp][] = [
      [/^lmdb$/, /^engine\/storage\/table\/(env|table)\.ts$/],
      [/^lunr/, /^engine\/text\/analysis\/language\.ts$/],
      [/^piscina$/, /^engine\/system\/task-thread\.ts$/],
      [/^@nats-io\//, /^engine\/cluster\/log\/jetstream[a-z-]*\.ts$/],
      [/^smol-toml$/, /^server\/config\/toml\.ts$/],
    ];
    const used = [...engine, ...server].flatMap((file) =>
      file.imports.flatMap(({ from, line, typeOnly }) => {
        const owner = owners.find(([name]) => name.test(from))?.[1];
        if (owner === undefined || typeOnly || owner.test(file.path)) return [];
        return [`${file.path}:${line} imports ${from}`];
      }),
    );
    const webAssembly = engine
      .filter((file) => !/^engine\/vector\/(wasm|arena)\.ts$/.test(file.path))
      .flatMap((file) =>
        usesOf(file)
          .filter(({ text }) => /^(new )?WebAssembly\.\w/.test(text))
          .map(({ line, text }) => `${file.path}:${line} ${text.slice(0, 40)}`),
      );
    list([...used, ...webAssembly]);
  });
});

describe('size and form', () => {
  test('files have at most 500 lines of at most 100 columns', () => {
    list(
      [...all, ...wasm].flatMap((file) => [
        ...(file.lines.length > 500 ? [`${file.path} has ${file.lines.length} lines`] : []),
        ...file.lines.flatMap((line, i) =>
          // Comments are wrapped by hand and may run a little over; long texts cannot be broken.
          line.length > (/^\s*(\/\/|\*|\/\*)/.test(line) ? 120 : 100) &&
          !/['"`].{60,}|^import /.test(line)
            ? [`${file.path}:${i + 1} has ${line.length} columns`]
            : [],
        ),
      ]),
    );
  });

  test('folders have at most 20 files', () => {
    const counts = new Map<string, number>();
    for (const path of trackedFiles()) {
      const folder = dirname(path);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    expect(counts.size).toBeGreaterThan(50);
    list(
      [...counts]
        .filter(([, count]) => count > 20)
        .map(([folder, n]) => `${folder} has ${n} files`),
    );
  });

  test('the first page is short, the others have one reader each', () => {
    const most = (path: string) => (path === 'README.md' ? 12_000 : 24_000);
    const pages = readPages();
    expect(pages.length).toBeGreaterThan(10);
    list(
      pages
        .map(({ path, text }): [string, number] => [path, Buffer.byteLength(text)])
        .filter(([path, size]) => size > most(path))
        .map(([path, size]) => `${path} has ${size} bytes`),
    );
  });

  test('functions have at most 70 lines', () => {
    const product = [...engine, ...server, ...bench, ...wasm];
    list(
      product.flatMap((file) =>
        functionsOf(file)
          .filter(({ length }) => length > 70)
          .map(({ name, line, length }) => `${file.path}:${line} ${name} has ${length} lines`),
      ),
    );
  });

  test('files export at most 8 names; only the public face exports more', () => {
    list(
      all
        .filter((file) => !isFace(file.path))
        .map((file): [string, number] => [file.path, exportsOf(file).length])
        // The vocabulary of the waist and of tests is types: data shapes that belong together.
        .filter(
          ([path, count]) =>
            count > (/^engine\/(plan\/|base\/|storage\/table\/view-types\.ts)/.test(path) ? 20 : 8),
        )
        .map(([path, count]) => `${path} exports ${count} names`),
    );
  });

  test('every file begins with a comment', () => {
    const headed = /^(#!.*\n)?(\/\/|\/\*)/;
    list([...all, ...wasm].filter(({ text }) => !headed.test(text)).map(({ path }) => path));
  });

  test('file names are kebab-case nouns', () => {
    const banned = /(^|[-/])(utils?|helpers?|managers?)[-.]|\/common\./;
    list(
      all
        .map((file) => file.path)
        .filter((path) => !/^[a-z0-9/-]+(\.test|\.config)?\.tsx?$/.test(path) || banned.test(path)),
    );
  });
});

describe('names', () => {
  const offences = [...engine, ...server, ...wasm].flatMap(declaredNames).flatMap((it) => {
    const better = betterName(it.name);
    return better === undefined || isFixedName(it) ? [] : [{ ...it, better }];
  });

  // `TRELLIS_NAMES=engine/text npx vitest run ... test/architecture.test.ts` prints the names under a path, and
  // TRELLIS_NAMES=write stores the present numbers.
  test('fewer names have a retired word, in every folder', () => {
    const counts: Record<string, number> = {};
    for (const { path } of offences) counts[dirname(path)] = (counts[dirname(path)] ?? 0) + 1;
    const file = join(root, 'test/docs/names-left.json');
    const wanted = process.env.TRELLIS_NAMES;
    if (wanted === 'write') {
      const sorted = Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
      writeFileSync(file, `${JSON.stringify(Object.fromEntries(sorted), undefined, 1)}\n`);
    } else if (wanted)
      for (const { path, line, name, better } of offences)
        if (path.startsWith(wanted)) process.stderr.write(`${path}:${line} ${name}: ${better}\n`);
    const left = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
    list(
      Object.entries(counts)
        .filter(([folder, n]) => n > (left[folder] ?? 0))
        .map(([folder, n]) => `${folder}: ${n} retired names, ${left[folder] ?? 0} were left`),
    );
  });

  test('the retired words are found in a name, and standard uses pass', () => {
    const retired = ['#askedServer', 'placesOf', 'L_GIVEN', 'once', 'edgesAtOnce', 'toldOf'];
    expect(retired.filter((name) => betterName(name) === undefined)).toEqual([]);
    const standard = ['replaceInPlace', 'lookUp', 'appendOnce', 'standardError', 'replace'];
    expect(standard.filter((name) => betterName(name) !== undefined)).toEqual([]);
  });
});

/** Files of the server that ask what the world calls now, and for what: no rate, wait or deadline. */
const onTheWall: Record<string, string> = {
  'server/auth/authenticator.ts': 'keys that have expired',
  'server/auth/key-use.ts': 'when a key was last used',
  'server/command/keys.ts': 'when a key was made',
  'server/command/project/check.ts': 'NOW of a migration',
  'server/telemetry/request-log.ts': 'when a request was slow',
  'server/telemetry/runtime-metrics.ts': 'when the process began',
  'server/telemetry/audit-file.ts': 'when a request was noted',
  'server/lifecycle/backup-directory.ts': 'names of backups',
  'server/lifecycle/authentication.ts': 'keys that have expired',
  'server/lifecycle/tls.ts': 'certificates that have expired',
};

describe('banned', () => {
  const calls = (files: SourceFile[], pattern: RegExp, except: RegExp) =>
    files
      .filter((file) => !except.test(file.path))
      .flatMap((file) =>
        usesOf(file)
          .filter(({ text }) => pattern.test(text))
          .map(({ text, line }) => `${file.path}:${line} ${text.slice(0, 60)}`),
      );

  test('console only in the log', () =>
    list(
      calls(
        [...engine, ...server],
        /^(globalThis\.)?console\b/,
        /^server\/telemetry\/(log|flush-output|standard-error)\.ts$/,
      ),
    ));
  test('the environment only in the configuration', () =>
    list(calls([...engine, ...server], /^process(\.env\b|\[|$)/, /^server\/config\/config\.ts$/)));
  test('no clock but the one, and that of the wall only for what is shown, stored or expires', () => {
    const clocks = /^(Date\.now|new Date(\(\)|$)|performance\.timeOrigin|process\.hrtime)/;
    list(
      calls([...engine, ...server], clocks, /^(engine\/base\/clock|server\/telemetry\/log)\.ts$/),
    );
    list(
      server
        .filter(({ path, text }) => /\bwallMs\b/.test(text) && !(path in onTheWall))
        .map(({ path }) => path),
    );
    list(Object.keys(onTheWall).filter((path) => !server.some((file) => file.path === path)));
  });
  test('no test bounds what a clock shows but by `expectFigure`, which allows for other work', () => {
    const bound = /expect\((?!Math\.abs)[^;]*(performance|Date)\.now\(\)[^;]*\)\.toBeLess/;
    const taken = /\b(?:const|let) (\w+) = [^;]*\b(?:performance|Date)\.now\(\) - /g;
    list(
      tests.flatMap((file) => {
        const names = [...file.text.matchAll(taken)].map(([, name]) => name!);
        const named = new RegExp(`expect\\((${names.join('|')})\\)[^;]*\\.toBeLess\\w*\\(\\d`);
        return file.lines.flatMap((line, i) =>
          bound.test(line) || (names.length > 0 && named.test(line))
            ? [`${file.path}:${i + 1}`]
            : [],
        );
      }),
    );
  });
  test('no generator inside a function of the executor (row/flow.ts says why)', () => {
    list(
      engine
        .filter(({ path }) => path.startsWith('engine/exec/'))
        .flatMap((file) =>
          functionsOf(file)
            .filter(({ isInnerGenerator }) => isInnerGenerator)
            .map(({ name, line }) => `${file.path}:${line} ${name}`),
        ),
    );
  });
  test('no cast by way of unknown', () => {
    list(
      [...engine, ...server, ...bench].flatMap((file) =>
        detoursOf(file).map((line) => `${file.path}:${line}`),
      ),
    );
  });
  test('no bare errors', () => list(calls([...engine, ...server], /^(throw )?new Error\(/, /^$/)));
  test('no unfinished words', () => {
    const unfinished = ['TO-DO', 'FIX-ME', 'XX-X', 'HA-CK', 'WI-P'];
    const words = new RegExp(
      `\\b(${unfinished.map((word) => word.replace('-', '')).join('|')})\\b`,
    );
    list(
      all.flatMap((file) =>
        file.lines.flatMap((line, i) =>
          words.test(line) ? [`${file.path}:${i + 1} ${line}`] : [],
        ),
      ),
    );
  });
  test('no path of a machine', () => {
    const texts = [...all, ...readPages()].map(({ path, text }): [string, string] => [path, text]);
    const machine = new RegExp(`/(${['home', 'Users', 'root', 'work'].join('|')})/\\w`);
    list(texts.filter(([, text]) => machine.test(text)).map(([path]) => path));
  });
});

/** Codes that no request can bring about from outside, and why. */
const notProvoked: Record<string, string> = {
  INTERNAL: 'a defect; provoked on purpose by a throwing failpoint in test/reliability/crash',
  DATA_CORRUPT: 'damaged files: test/conformance/files.test.ts',
  STORAGE_LOST: 'a deleted data file: test/conformance/files.test.ts',
  NOT_READY: 'before the ready line: test/conformance/process.test.ts',
  SHUTTING_DOWN: 'after SIGTERM: test/conformance/process.test.ts',
  DATABASE_CLOSED:
    'a call in the same process after `close`: test/conformance/embedded-life.test.ts',
  PROTECTED_MODE: 'needs a peer that is not this machine: test/conformance/process.test.ts',
  LOG_UNAVAILABLE: 'no log answers: test/cluster',
  LOG_FULL: 'a log without room: test/cluster',
  LOG_UNSAFE: 'servers that sync late: test/cluster',
  LOG_TRUNCATED: 'a log that was trimmed: test/cluster',
  VECTOR_CAPACITY: 'needs more vectors than fit: test/conformance/process.test.ts',
};

describe('completeness', () => {
  const evidence = [
    ...['language', 'http', 'sessions', 'hostile'].flatMap((folder) => caseFiles(folder)),
    ...tests.map((file) => join(root, file.path)).filter((path) => path.endsWith('.test.ts')),
  ]
    .filter((path) => !path.endsWith('tidy.test.ts'))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');

  /** Codes that an answer is asserted to have: not words that happen to stand somewhere. */
  const provoked = new Set<string>();
  for (const path of ['language', 'http', 'sessions', 'hostile'].flatMap((it) => caseFiles(it))) {
    const text = readFileSync(path, 'utf8');
    for (const [, code] of text.matchAll(/"code": ?"([A-Z_]+)"/g)) provoked.add(code!);
  }
  for (const file of tests.filter(
    ({ path }) => path.endsWith('.test.ts') && !path.includes('tidy'),
  ))
    for (const text of textsOf(file)) provoked.add(/"code":"([A-Z_]+)"/.exec(text)?.[1] ?? text);

  test('every error code is provoked', () => {
    list(errorCodes.filter((code) => !(code in notProvoked) && !provoked.has(code)));
  });

  test('no exported name is unused', () => {
    // These are used, although no import shows it: benches are found by their name, vitest calls the functions
    // of its setup files, and the entry of a thread (engine/database/lane/worker.cts) imports at run time.
    const benches = /^bench\/.* (run|resultName)$/;
    const exempt = /^test\/.* (setup|teardown)$|(begin|end)Loading$/;
    const unused = unusedExports(all, resolveImport).filter((place) => !exempt.test(place));
    list(unused.filter((place) => !benches.test(place)));
  });

  test('comments say why: their share of the lines', () => {
    const lines = [...engine, ...server].flatMap((file) => file.lines.map((line) => line.trim()));
    const comments = lines.filter((line) => /^(\/\/|\/?\*)/.test(line)).length;
    const code = lines.filter((line) => line !== '').length - comments;
    process.stderr.write(`comments to code: ${(comments / code).toFixed(3)}\n`);
    expect(comments / code).toBeGreaterThan(0.1);
  });

  test('K37 every error code is documented', () => {
    const page = readFileSync(join(root, 'server/errors.md'), 'utf8');
    list(errorCodes.filter((code) => !page.includes(`\`${code}\``)));
  });

  test('every failpoint is covered', () => {
    const named = [...engine, ...server].flatMap((file) =>
      [...file.text.matchAll(/\bfailpoint\(\s*'(\w+)'/g)].map((match) => match[1]!),
    );
    expect(named.length).toBeGreaterThan(0);
    list([...new Set(named)].filter((point) => !evidence.includes(point)));
  });

  test('the compiled module has no data, global or start section', () => {
    const path = ['dist/wasm/hnsw.wasm'].map((name) => join(root, name)).find(existsSync);
    expect(path, 'no compiled module under dist/wasm').toBeDefined();
    const bytes = readFileSync(path!);
    const names: Record<number, string> = { 6: 'global', 8: 'start', 11: 'data', 12: 'data count' };
    const found: string[] = [];
    for (let at = 8; at < bytes.length; ) {
      const id = bytes[at++]!;
      let size = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++]!;
        size |= (byte & 127) << shift;
        if (byte < 128) break;
      }
      // A global section may hold only immutable globals: entries end in (type, mutability).
      if (id in names) found.push(names[id]!);
      at += size;
    }
    list(found);
  });
});
