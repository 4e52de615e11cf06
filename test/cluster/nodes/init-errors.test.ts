// Errors of operators who create a cluster in the wrong order: on data that belong to no cluster yet, and
// before there is a log.
import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, writeProject } from '../../support/project.js';
import { Server, runCli } from '../../support/server/server.js';
import { people } from '../support/servers.js';

const config = { 'storage.min_free': 0, 'storage.ballast': 0 };

/** A project, which no process serves. */
function projectOf(): Server {
  const folder = makeFolder();
  mkdirSync(join(folder, 'project'));
  writeProject(join(folder, 'project'), { sources: people, config });
  return new Server(folder, { config });
}

const closedPort = 'nats://127.0.0.1:1';

test('a start on data of a process of its own says init, not rebase, and leaves them as they are', async () => {
  const server = projectOf();
  await server.start();
  expect((await server.client.request({ path: 'add', body: '{"name":"x"}' })).status).toBe(200);
  await server.stop();
  const env = { TRELLIS_CLUSTER_LOG: closedPort, TRELLIS_CLUSTER_NAME: 'people' };
  const { code, stderr } = await runCli(['serve', server.project, '--data', server.data], { env });
  expect([code, stderr]).toEqual([78, expect.stringContaining('trellis cluster init')]);
  expect(stderr).not.toContain('rebase');
  await server.start();
  const read = await server.client.request({ path: 'all', body: '{}' });
  expect(read.text).toBe('{"p":1}');
  await server.dispose();
});

test('init without a log says so long before it gives up, and has done nothing', async () => {
  // One refuses at once, one takes the connection and says nothing.
  const silent = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as { port: number };
  for (const [log, why] of [
    [closedPort, 'connection refused'],
    [`nats://someone:secret@127.0.0.1:${port}`, 'no answer'],
  ] as const) {
    const server = projectOf();
    const env = { TRELLIS_CLUSTER_LOG: log };
    const argv = ['cluster', 'init', server.project, '--data', server.data];
    // It would wait for 30 s, and is ended before: servers of a log may begin at the same time.
    const { stderr } = await runCli(argv, { env, timeoutMs: 8_000 });
    expect(stderr).toContain('waiting up to 30 s for the log at ');
    expect(stderr).toContain(why);
    expect(stderr).not.toContain('secret');
    expect(existsSync(join(server.data, 'graph'))).toBe(false);
    await server.dispose();
  }
  silent.close();
});
