// What is shipped, and what a checkout builds: the package holds what runs and nothing else, and data
// that a server writes into a project make nothing out of date.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/project.js';

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

describe('the package', () => {
  it('holds what runs, and nothing else', () => {
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const argv = ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent'];
    const text = withData(() => execFileSync(npm, argv, { cwd: root, encoding: 'utf8' }));
    const [{ files, unpackedSize }] = JSON.parse(text) as [
      { files: { path: string }[]; unpackedSize: number },
    ];
    expect(unpackedSize).toBeLessThan(6 * 1024 * 1024);
    const paths = files.map(({ path }) => path);
    for (const needed of [
      'README.md',
      'LICENSE',
      'dist/bin/main.js',
      'dist/bin/worker.js',
      'dist/bin/probe-child.js',
      'dist/bin/snapshot-worker.js',
      'dist/wasm/hnsw.wasm',
      'dist/engine/index.d.ts',
      'server/demo/seed.ndjson',
    ])
      expect(paths).toContain(needed);
    const kinds =
      /^(dist\/bin\/[^/]+\.js|dist\/.+\.d\.ts|dist\/wasm\/hnsw\.wasm|server\/(demo|template)\/.+)$/;
    const others = paths.filter((path) => !kinds.test(path));
    expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
    expect(paths.filter((path) => /\.trellis\/|\.map$/.test(path))).toEqual([]);
  });
});
