// Runs the tests of whole clusters: `npm run test:cluster`. Those whose log is a file run everywhere. For those
// with real log servers it builds nats-server once, from the Go module proxy, of the version and with the
// hashes that go.mod and go.sum of the folders here pin, and keeps it outside the checkout; where that
// cannot be done it says what is missing, and leaves them out.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pins = (name) => fileURLToPath(new URL(name, import.meta.url));
const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');

function without(why) {
  console.log(`tests with log servers skipped: ${why}`);
  return undefined;
}

/** Where the program `name` is kept, of the module and package that it is built from. */
function placeOf(name, module) {
  const pinned = readFileSync(join(pins(name), 'go.mod'), 'utf8');
  const version = new RegExp(`${module} (v\\S+)`).exec(pinned)[1];
  return { version, path: join(cache, 'trellisdb', `${name}-${version}`) };
}

function build(name, module, from) {
  const { version, path } = placeOf(name, module);
  if (existsSync(path)) return path;
  const go = ['go', '/usr/local/go/bin/go'].find(
    (command) => spawnSync(command, ['version']).status === 0,
  );
  if (go === undefined) return without(`no ${name}, and no Go to build it; install Go, or name the program`);
  mkdirSync(join(cache, 'trellisdb'), { recursive: true });
  console.log(`building ${name} ${version}`);
  const unfinished = `${path}.${process.pid}`;
  const built = spawnSync(go, ['build', '-mod=readonly', '-trimpath', '-o', unfinished, from], {
    cwd: pins(name),
    encoding: 'utf8',
  });
  if (built.status !== 0) {
    // Other bytes than the pinned ones are no missing part: somebody must look at them.
    if (/SECURITY ERROR|checksum mismatch/.test(built.stderr)) {
      console.error(built.stderr);
      process.exit(1);
    }
    return without(`${name} cannot be built here: ${built.stderr.trim().split('\n').at(-1)}`);
  }
  renameSync(unfinished, path);
  return path;
}

const env = { ...process.env };

/** Names the program in the environment of the tests, where there is one. */
function give(variable, path) {
  if (path !== undefined) env[variable] ??= path;
}

const nats = 'github.com/nats-io/nats-server/v2';
if (env.TRELLIS_NATS_SERVER === undefined) give('TRELLIS_NATS_SERVER', build('nats-server', nats, nats));
// A store takes minutes to build: the short run takes it where it is, and has a small one of its own.
const gateway = 'github.com/versity/versitygw';
const kept = placeOf('versitygw', gateway).path;
if (existsSync(kept)) give('TRELLIS_S3_SERVER', kept);
else if (env.TRELLIS_TEST_LONG === '1')
  give('TRELLIS_S3_SERVER', build('versitygw', gateway, `${gateway}/cmd/versitygw`));
else console.log('tests with an S3 store left out: built and run by the long run (TRELLIS_TEST_LONG=1)');
const vitest = resolve(root, 'node_modules/vitest/vitest.mjs');
const argv = [vitest, 'run', '--config', 'test/cluster/vitest.config.ts', ...process.argv.slice(2)];
process.exit(spawnSync(process.execPath, argv, { cwd: root, env, stdio: 'inherit' }).status ?? 1);
