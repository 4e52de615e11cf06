// A node of a cluster as a separate process that a test can kill, stop and continue:
// `node node-process.mjs DIST FOLDER OPTIONS`. It receives `{ id, op, ... }` over IPC, and replies
// `{ id, value }` or `{ id, code }`. It ends with the test.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [dist, dataDir, text] = process.argv.slice(2);
const engine = (path) => import(pathToFileURL(join(dist, 'engine', path)).href);
const { cluster, sources, founds, failpoint, allowLazy } = JSON.parse(text);
const options = { dataDir, sources, minFreeBytes: 0, cluster, ...(failpoint && { failpoint }) };
process.on('disconnect', () => process.exit(0));

if (founds) {
  // A build from before the names of today has it in another file.
  const creating = engine('database/create-cluster.js').catch(() => engine('database/found.js'));
  const [{ createCluster, foundCluster = createCluster }, { completeOptions }, { compile }] = await Promise.all([
    creating,
    engine('database/embedded-options.js'),
    engine('lang/compile.js'),
  ]);
  const { program } = compile(sources, { compat: false });
  const complete = completeOptions(options);
  await foundCluster({ ...complete, program }, { compat: false, sources }, { allowLazy });
  process.exit(0);
}

const { open } = await engine('database/embedded.js');
const db = await open(options);
const node = db.database.cluster;

// A build from before positions were waited for whole takes the sequence alone.
const { isAt } = await engine('cluster/ipc/epochs.js')
  .catch(() => engine('cluster/link/epochs.js'))
  .catch(() => engine('cluster/node.js'));
const awaited = (at) => (isAt === undefined ? at.seq : at);

const operations = {
  look: () => ({ fault: node.fault, role: node.role, position: node.position, leader: node.leader?.node }),
  call: ({ query, body }) => db.call(query, body),
  // With how far this node was when it answered.
  callAt: async ({ query, body }) => ({ answer: await db.call(query, body), at: node.position }),
  check: () => node.check(),
  reload: async ({ text }) => {
    const { compile } = await engine('lang/compile.js');
    const archive = { compat: false, sources: [{ path: 'app.hx', text }] };
    const { program, diagnostics } = compile(archive.sources, { compat: false });
    if (program === undefined) throw new RangeError(JSON.stringify(diagnostics));
    await db.database.reload(program, archive);
  },
  strong: ({ ms }) => (node.readBarrier === undefined ? node.strong(ms) : node.readBarrier(ms)),
  wait: ({ at, ms }) => node.waitFor(awaited(at), ms),
  stepDown: ({ to }) => node.stepDown(to),
  close: () => db.close(),
};
process.on('message', async ({ id, op, ...more }) => {
  try {
    process.send({ id, value: (await operations[op](more)) ?? null });
  } catch (error) {
    process.send({ id, code: error.code ?? 'INTERNAL', text: String(error.stack ?? error) });
  }
});
process.send({ id: 0, value: 'ready' });
