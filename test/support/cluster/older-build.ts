// A build of an older commit, for what a rolling upgrade meets. Made from the checkout's own history, with the packages
// that are installed; kept outside the checkout. TRELLIS_OLDER_DIST names one that is there.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { root } from '../project.js';

/** The first that had clusters; its entries, but for their signatures, and its tables are those of today. */
const first = '6b62e3bf7f8012b7df59f8f4aa37bfa4196a2bdb';
/** The last one that signed no entries, and whose nodes prove less to each other. */
export const lastUnsigned = '871d1249a3887ce5fa4f692699b74337e60defe3';

/** Uses the packages of this checkout, because the checkout of the build may no longer exist. */
function linkPackages(folder: string): void {
  const link = join(folder, `node_modules.${process.pid}`);
  symlinkSync(join(root, 'node_modules'), link);
  renameSync(link, join(folder, 'node_modules'));
}

/** Its `dist`, or why there is none. */
export function olderBuild(commit = first): { dist: string } | { missing: string } {
  const given = commit === first ? process.env.TRELLIS_OLDER_DIST : undefined;
  if (given !== undefined) return { dist: given };
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'trellisdb');
  const place = join(cache, `build-${commit.slice(0, 12)}`);
  if (existsSync(place)) {
    linkPackages(place);
    return { dist: join(place, 'dist') };
  }
  const git = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root });
  if (git.status !== 0) return { missing: `the history does not hold ${commit.slice(0, 7)}` };
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(`${place}.`);
  try {
    const archive = execFileSync(
      'git',
      [
        'archive',
        commit,
        'engine',
        'server',
        'bench',
        'wasm',
        'tsconfig.json',
        'asconfig.json',
        'package.json',
      ],
      { cwd: root, maxBuffer: 1 << 30 },
    );
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    linkPackages(folder);
    mkdirSync(join(folder, 'dist/wasm'), { recursive: true });
    const run = (program: string, ...args: string[]): void =>
      void execFileSync(process.execPath, [join(root, 'node_modules', program), ...args], {
        cwd: folder,
        stdio: 'inherit',
      });
    run('assemblyscript/bin/asc.js', '--config', 'asconfig.json');
    run('typescript/bin/tsc', '-p', 'tsconfig.json');
    renameSync(folder, place);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { dist: join(place, 'dist') };
}
