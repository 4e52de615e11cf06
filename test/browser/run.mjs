// Runs the browser tests: `npm run test:browser`, with `-- --shots DIR` for pictures of every page. Finds
// a Chromium, or says that there is none and ends well: a browser is not needed to work on the rest.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const candidates = [process.env.TRELLIS_CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'];
const chromium = candidates.find((path) => path !== undefined && existsSync(path));
if (chromium === undefined) {
  console.log('browser tests skipped: no Chromium; install one or set TRELLIS_CHROMIUM to its path');
  process.exit(0);
}
const args = process.argv.slice(2);
const at = args.indexOf('--shots');
const shots = at < 0 ? '' : resolve(args.splice(at, 2)[1] ?? 'shots');
if (shots !== '') mkdirSync(shots, { recursive: true });
const vitest = resolve(root, 'node_modules/vitest/vitest.mjs');
const argv = [vitest, 'run', '--config', 'test/browser/vitest.config.ts', ...args];
const env = { ...process.env, TRELLIS_CHROMIUM: chromium, TRELLIS_SHOTS: shots };
process.exit(spawnSync(process.execPath, argv, { cwd: root, env, stdio: 'inherit' }).status ?? 1);
