// What is shipped, and what a checkout builds: the package holds what runs and nothing else, and data
// that a server writes into a project make nothing out of date.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder, root } from '../support/project.js';

const data = join(root, 'server/demo/.trellis/test-data');

/** Runs `work` while the demo has data that no server wrote. */
function withData<T>(work: () => T): T {
  const wasThere = existsSync(join(data, '..'));
  mkdirSync(join(data, 'deep'), { recursive: true });
  writeFileSync(join(data, 'MANIFEST.json'), `{"at":${Date.now()}}`);
  writeFileSync(join(data, 'deep/program.ts'), 'export {};\n');
  try {
    return work();
  } finally {
    rmSync(wasThere ? data : join(data, '..'), { recursive: true });
  }
}

describe('a checkout', () => {
  it('builds nothing again because a server wrote data', () => {
    const planned = (...args: string[]) => {
      const argv = ['.ci/setup.mjs', '--dry-run', ...args];
      return spawnSync(process.execPath, argv, { cwd: root, encoding: 'utf8' }).stderr;
    };
    expect(planned('--force')).toMatch(/^setup: compiling TypeScript$/m);
    const before = planned();
    expect(withData(planned)).toBe(before);
  });
});

/** An empty project with the package in it, as `npm install` leaves it, and what was packed. */
function install(folder: string): { unpackedSize: number; paths: string[] } {
  const [npm, options] = process.platform === 'win32' ? ['npm.cmd', { shell: true }] : ['npm', {}];
  const argv = ['pack', '--json', '--silent', '--pack-destination', folder];
  const text = withData(() => execFileSync(npm, argv, { ...options, cwd: root, encoding: 'utf8' }));
  const [{ files, filename, unpackedSize }] = JSON.parse(text) as [
    { files: { path: string }[]; filename: string; unpackedSize: number },
  ];
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, 'trellisdb'), { recursive: true });
  const unpack = ['-xzf', join(folder, filename), '-C', join(modules, 'trellisdb')];
  execFileSync('tar', [...unpack, '--strip-components=1']);
  // What it depends on is here already, and the network may not be.
  const manifest = readFileSync(join(modules, 'trellisdb/package.json'), 'utf8');
  const { optionalDependencies } = JSON.parse(manifest) as {
    optionalDependencies: Record<string, string>;
  };
  for (const name of Object.keys(optionalDependencies)) {
    if (!existsSync(join(root, 'node_modules', name))) continue;
    mkdirSync(join(modules, name, '..'), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction');
  }
  return { unpackedSize, paths: files.map(({ path }) => path) };
}

/** Seconds of processor time that a process took so far, where the system tells. */
function cpuSeconds(pid: number): number | undefined {
  if (!existsSync(`/proc/${pid}/stat`)) return undefined;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The command of the build stage of the image, as its shell runs it. */
function buildCommand(): string {
  const text = readFileSync(join(root, 'server/deploy/Dockerfile'), 'utf8').replaceAll('\\\n', '');
  const [stage] = text.split(/^FROM /m).slice(1);
  return /^RUN (.*)$/m.exec(stage!)![1]!;
}

describe('the package', () => {
  const folder = makeFolder();
  const { unpackedSize, paths } = install(folder);
  const main = join(folder, 'node_modules/trellisdb/dist/bin/main.js');

  it('holds what runs and the manual, and nothing else', () => {
    // 100 KB are the licenses of bundled code and the bill of materials, 1 MB is the manual, and 130 KB are
    // the stems and stop words of 14 languages.
    expect(unpackedSize).toBeLessThan(7_800_000);
    for (const needed of [
      'README.md',
      'LICENSE',
      'SECURITY.md',
      'dist/bin/THIRD-PARTY-NOTICES.txt',
      'dist/bin/sbom.cdx.json',
      'dist/bin/main.js',
      'dist/bin/main.cjs',
      'dist/bin/worker.cjs',
      'dist/bin/threads.cjs',
      'dist/bin/preopen-check-child.js',
      'dist/bin/snapshot-worker.js',
      'dist/bin/http-thread-entry.js',
      'dist/bin/compile-thread.cjs',
      'dist/bin/log-thread.js',
      'dist/wasm/hnsw.wasm',
      'dist/explorer/index.html',
      'dist/types/engine/public.d.ts',
      'dist/bin/langchain.js',
      'server/integrations/langchain.d.mts',
      'dist/bin/mastra.js',
      'server/integrations/mastra.d.mts',
      'server/integrations/store-types.d.mts',
      'server/deploy/grafana.json',
      'server/editor/helixql.tmLanguage.json',
      'server/demo/seed.ndjson',
      'server/template/start/schema.hx',
    ])
      expect(paths).toContain(needed);
    const kinds = new RegExp(
      `^(${[
        'dist/bin/[^/]+\\.c?js',
        'dist/types/.+\\.d\\.ts',
        'dist/wasm/hnsw\\.wasm',
        'dist/explorer/[^/]+',
        'server/(demo|deploy|editor|template)/.+',
        'server/integrations/[^/]+\\.d\\.mts',
        '((server|engine|test)/.+|bench/[^/]+|[A-Z]+)\\.md',
      ].join('|')})$`,
    );
    const others = paths.filter((path) => !kinds.test(path));
    const told = ['dist/bin/THIRD-PARTY-NOTICES.txt', 'dist/bin/sbom.cdx.json', 'package.json'];
    expect(others.sort()).toEqual(['LICENSE', ...told]);
    expect(paths.filter((path) => /\.trellis\/|\.map$/.test(path))).toEqual([]);
  });

  it('has each page that its pages link to', () => {
    const pages = paths.filter((path) => path.endsWith('.md') && !/template\//.test(path));
    expect(pages.length).toBeGreaterThan(80);
    const missing = pages.flatMap((page) => {
      const text = readFileSync(join(folder, 'node_modules/trellisdb', page), 'utf8');
      const links = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)#:\s]+\.md)/g);
      return [...links]
        .map(([, link]) => join(dirname(page), link!))
        .filter((path) => !paths.includes(path))
        .map((path) => `${page}: ${path}`);
    });
    expect(missing).toEqual([]);
  });

  it('is enough to build the image from', () => {
    // npm is replaced: the network may not be here. Only the package's own files count.
    const app = join(makeFolder(), 'app');
    cpSync(join(folder, 'node_modules/trellisdb'), app, { recursive: true });
    const bin = join(app, '../bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\necho "$@" > ../npm-ran\nmkdir node_modules\n`);
    chmodSync(join(bin, 'npm'), 0o755);
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
    const done = spawnSync('sh', ['-c', buildCommand()], { cwd: app, env, encoding: 'utf8' });
    expect([done.status, done.stderr]).toEqual([0, '']);
    expect(readFileSync(join(app, '../npm-ran'), 'utf8')).toMatch(/^install .*--omit=dev/);
    const text = readFileSync(join(root, 'server/deploy/Dockerfile'), 'utf8');
    const copied = [...text.matchAll(/^COPY --from=build \/app\/(\S+) /gm)].map(
      ([, path]) => path!,
    );
    expect(copied.length).toBeGreaterThan(4);
    expect(copied.filter((path) => !existsSync(join(app, path)))).toEqual([]);
    const ignored = readFileSync(join(root, 'server/deploy/Dockerfile.dockerignore'), 'utf8');
    expect(ignored.split('\n')).not.toContain('dist');
  });

  it('W01, W03: init and dev in an empty project', async () => {
    execFileSync(process.execPath, [main, 'init', 'app', '--client'], { cwd: folder });
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(TRELLIS|HELIX|FORCE_COLOR)/.test(name)),
    );
    const child = spawn(process.execPath, [main, 'dev', 'app', '--port', '0'], {
      cwd: folder,
      env,
    });
    let [out, log] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
    const ended = new Promise((resolve) => child.once('close', resolve));
    try {
      // No terminal: the ready line comes first, alone and without colour.
      await expect
        .poll(() => out, { interval: 10 })
        .toMatch(/^trellis ready http:\/\/127\.0\.0\.1:\d+\n$/);
      // Of the processors, not of the clock: other tests share them.
      expect(cpuSeconds(child.pid!) ?? 0).toBeLessThan(2);
      const url = out.trim().split(' ').at(-1)!;
      const page = await (await fetch(`${url}/`, { headers: { Accept: 'text/html' } })).text();
      const [, script] = /src="\.?\/?([^"]+)"/.exec(page)!;
      expect((await fetch(`${url}/${script}`)).status).toBe(200);
      const types = readFileSync(join(folder, 'app/trellis.gen.ts'), 'utf8');
      expect(types).toMatch(/^ {2}people\(/m);
      // Which is a module, and is called by one.
      expect(JSON.parse(readFileSync(join(folder, 'app/package.json'), 'utf8')).type).toBe(
        'module',
      );
      expect(readFileSync(join(folder, 'app/README.md'), 'utf8')).toMatch(
        /^import .*trellis\.gen/m,
      );
      const origin = 'http://localhost:5173';
      const call = (name: string) =>
        fetch(`${url}/${name}`, { method: 'POST', headers: { origin } });
      const answer = await call('people');
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
      expect(await answer.json()).toMatchObject({
        people: [{ name: 'Mary Shelley', books: 2 }, {}],
      });
      await call('booksOf');
      await expect.poll(() => log).toMatch(/POST \/booksOf 400 PARAM_MISSING \d/);
      const ignored = readFileSync(join(folder, 'app/.trellis/.gitignore'), 'utf8');
      expect(ignored).toBe('*\n');
      appendFileSync(join(folder, 'app/trellis.toml'), '\n[vectors.Note]\nm = 24\n');
      appendFileSync(
        join(folder, 'app/queries.hx'),
        '#[model("openai:some")]\nQUERY near(text: String) => a <- SearchV<Note>(Embed(text), 1) RETURN a\n',
      );
      appendFileSync(join(folder, 'app/schema.hx'), 'V::Note { text: String }\n');
      await expect.poll(() => log).toMatch(/\+ V::Note\n.*\+ query near\(/s);
      await expect
        .poll(() => log)
        .toMatch(/trellis\.toml: vectors\.Note\.m = 24: takes effect after a restart/);
      await expect.poll(() => log).toMatch(/1 query \(near\) cannot embed: /);
    } finally {
      child.kill('SIGTERM');
    }
    expect(await ended).toBe(0);
    expect(log + out).not.toContain(String.fromCharCode(27));
  });
});
