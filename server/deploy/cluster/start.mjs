// Starts three log servers and three nodes on this machine with one command, to try a cluster:
//
//   node server/deploy/cluster/start.mjs PROJECT [FOLDER]
//
// FOLDER (`PROJECT/.trellis/cluster`) keeps logs and data; a second start continues with them. Nodes use ports
// from PORT (6971) on, log servers from NATS_PORT (4222) on. `nats-server` 2.15.2 or newer comes from the PATH,
// or TRELLIS_NATS_SERVER names it. Ctrl-C stops all six processes. Log servers require a password, which FOLDER
// keeps, and accept connections from this machine only. cluster.yml does the same for several machines, with
// TLS.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [project = '.', given] = process.argv.slice(2);
const folder = resolve(given ?? join(project, '.trellis/cluster'));
const port = Number(process.env.PORT ?? 6971);
const natsPort = Number(process.env.NATS_PORT ?? 4222);
const nats = process.env.TRELLIS_NATS_SERVER ?? 'nats-server';
const trellis = fileURLToPath(new URL('../../../dist/bin/main.js', import.meta.url));
const three = [0, 1, 2];
const children = [];

function end(code, why) {
  if (why !== undefined) console.error(why);
  process.exitCode = code;
  // Nodes first: they save their indexes, and hand over.
  for (const { child, isNode } of children) if (isNode) child.kill('SIGTERM');
  // A process that was ended by a signal has no exit code, and does not end a second time.
  const isLeft = ({ exitCode, signalCode }) => exitCode === null && signalCode === null;
  const left = children.filter(({ isNode, child }) => isNode && isLeft(child));
  const all = left.map(({ child }) => new Promise((done) => child.once('exit', done)));
  Promise.all(all).then(() => {
    for (const { child } of children) child.kill('SIGTERM');
  });
}

let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    if (isEnding) return;
    isEnding = true;
    end(0);
  });

function start(name, command, args, options = {}) {
  const log = openSync(join(folder, `${name}.log`), 'a');
  const isNode = command === process.execPath;
  const child = spawn(command, args, { stdio: ['ignore', isNode ? 'pipe' : log, log], ...options });
  children.push({ child, isNode });
  child.once('error', (error) => end(1, `${name}: ${error.message}`));
  child.once('exit', (code) => {
    if (!isEnding) console.error(`${name} has ended (${code}); see ${join(folder, `${name}.log`)}`);
  });
  return child;
}

function startLogServer(i) {
  const route = `route:${password}`;
  const routes = three
    .filter((k) => k !== i)
    .map((k) => `nats://${route}@127.0.0.1:${natsPort + 2000 + k}`);
  const config = join(folder, `log${i + 1}.conf`);
  writeFileSync(
    config,
    `server_name: log${i + 1}
listen: 127.0.0.1:${natsPort + i}
http: 127.0.0.1:${natsPort + 4000 + i}
# Every message is on the disk before it counts; room for more than 2 x cluster.log_retention_bytes.
jetstream { store_dir: "${join(folder, `log${i + 1}`)}", max_file: 4G, sync_interval: always }
authorization { user: trellis, password: "${password}" }
cluster {
  name: trellis
  listen: 127.0.0.1:${natsPort + 2000 + i}
  authorization { user: route, password: "${password}" }
  routes: [${routes.join(', ')}]
}
`,
    { mode: 0o600 },
  );
  start(`log${i + 1}`, nats, ['-c', config]);
}

const logUrl = () => {
  const at = (from) => three.map((i) => `127.0.0.1:${natsPort + from + i}`);
  return `nats://${at(0).join(',')}?monitor=${at(4000).map((one) => `http://${one}`).join(',')}`;
};

/** Configuration of a node, as variables. */
function environmentOf(i) {
  return {
    ...process.env,
    TRELLIS_CLUSTER_LOG: logUrl(),
    TRELLIS_CLUSTER_NAME: 'trellis',
    TRELLIS_CLUSTER_NODE: `node${i + 1}`,
    TRELLIS_CLUSTER_ADVERTISE_ADDRESS: `127.0.0.1:${port + i}`,
    TRELLIS_CLUSTER_LOG_RETENTION_BYTES: '1GiB',
    TRELLIS_CLUSTER_SECRET_FILE: join(folder, 'secret'),
    TRELLIS_CLUSTER_TOKEN_FILE: join(folder, 'log-token'),
  };
}

function startNode(i) {
  const name = `node${i + 1}`;
  const args = ['serve', project, '--data', join(folder, name), '--port', String(port + i)];
  const child = start(name, process.execPath, [trellis, ...args], { env: environmentOf(i) });
  return new Promise((done) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      if (!text.includes('trellis ready')) return;
      console.log(`${name} http://127.0.0.1:${port + i}`);
      done();
    });
    child.once('exit', done);
  });
}

/** Makes the log of the first node's data; tried until the log servers have found each other. */
async function found() {
  const args = [trellis, 'cluster', 'init', project, '--data', join(folder, 'node1')];
  for (let tries = 0; ; tries++) {
    const made = spawnSync(process.execPath, args, { env: environmentOf(0), encoding: 'utf8' });
    if (made.status === 0) return writeFileSync(join(folder, 'founded'), '');
    if (tries === 20) throw new Error(made.stderr);
    await new Promise((done) => setTimeout(done, 1000));
  }
}

if (spawnSync(nats, ['--version']).status !== 0) {
  console.error(`${nats} is not here: install nats-server 2.15.2 or newer, or set TRELLIS_NATS_SERVER`);
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
const secret = join(folder, 'secret');
if (!existsSync(secret)) writeFileSync(secret, randomBytes(32).toString('hex'), { mode: 0o600 });
// What nodes show to the log servers: `user:password`.
const token = join(folder, 'log-token');
if (!existsSync(token))
  writeFileSync(token, `trellis:p${randomBytes(32).toString('hex')}`, { mode: 0o600 });
const [, password] = readFileSync(token, 'utf8').split(':');
for (const i of three) startLogServer(i);
try {
  if (!existsSync(join(folder, 'founded'))) await found();
  for (const i of three) if (!isEnding) await startNode(i);
  if (!isEnding) console.log('cluster ready');
} catch (error) {
  isEnding = true;
  end(1, String(error.message));
}
