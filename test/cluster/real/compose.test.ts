// The file for Docker Compose, as far as it can be seen without Docker: what it names is there, and its command
// lines, run as processes of this machine, are three log servers and three nodes, started again until they stay as
// Compose does.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { connect } from '../../../server/client/client.js';
import { freePort } from '../../support/cluster/nats-servers.js';
import { makeFolder, root, writeProject } from '../../support/project.js';
import { people } from '../kit/servers.js';

const place = join(root, 'server/deploy/cluster');

interface Service {
  image: string;
  build?: { context: string; dockerfile: string };
  entrypoint?: string[];
  command: string[];
  volumes: string[];
  ports?: string[];
  depends_on?: string[];
  environment?: Record<string, string>;
}

const text = readFileSync(join(place, 'cluster.yml'), 'utf8');
// Every scalar as the text that it is written as.
const file = parse(text, { schema: 'failsafe', merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, object>;
};
const services = Object.entries(file.services);
const isLog = ([, { image }]: [string, Service]): boolean => image.startsWith('nats:');
const [logs, nodes] = [services.filter(isLog), services.filter((one) => !isLog(one))];

/** Of Compose, what this file uses. */
const known = new Set([
  ...['image', 'build', 'restart', 'command', 'entrypoint', 'environment', 'volumes', 'ports'],
  ...['depends_on', 'stop_grace_period', 'security_opt', 'cap_drop'],
]);

test('what the file names is there', () => {
  expect([logs.length, nodes.length]).toEqual([3, 3]);
  const pinned = readFileSync(join(root, 'test/cluster/nats-server/go.mod'), 'utf8');
  const [, version] = /nats-server\/v2 v(\S+)/.exec(pinned)!;
  const dockerfile = readFileSync(join(root, 'server/deploy/Dockerfile'), 'utf8');
  const [, port] = /^EXPOSE (\d+)$/m.exec(dockerfile)!;
  const volumes: string[] = [];
  const ports: string[] = [];
  for (const [name, service] of services) {
    expect(Object.keys(service).filter((key) => !known.has(key))).toEqual([]);
    if (isLog([name, service])) expect(service.image).toBe(`nats:${version}`);
    else {
      const { context, dockerfile: built } = service.build!;
      expect(existsSync(join(resolve(place, context), built)), name).toBe(true);
      expect(service.depends_on).toEqual(logs.map(([log]) => log));
      expect(service.environment!.TRELLIS_CLUSTER_NODE).toBe(name);
    }
    for (const volume of service.volumes) {
      const [, from] = /^(\$\{\w+:-[^}]*\}|[^:]+):\/[\w/.]+(?::ro)?$/.exec(volume)!;
      const path = /^\$\{\w+:-(.*)\}$/.exec(from!)?.[1] ?? from!;
      if (path.startsWith('.')) expect(existsSync(resolve(place, path)), path).toBe(true);
      else volumes.push(path);
    }
    for (const one of service.ports ?? []) {
      expect(one).toMatch(new RegExp(`^\\d+:${port}$`));
      ports.push(one);
    }
  }
  // Nobody has another one's data or port, and all that is made is used.
  expect(volumes.sort()).toEqual(Object.keys(file.volumes).sort());
  expect(new Set([...volumes, ...ports]).size).toBe(volumes.length + ports.length);
  expect(ports.length).toBe(nodes.length);
});

const folder = makeFolder();
const running = new Map<string, ChildProcess>();
let isEnding = false;
const said: string[] = [];

/** Again and again, until it is ended: `restart: unless-stopped`. */
async function keep(name: string, command: string[], env: NodeJS.ProcessEnv): Promise<void> {
  while (!isEnding) {
    const child = spawn(command[0]!, command.slice(1), { env, stdio: ['ignore', 'pipe', 'pipe'] });
    running.set(name, child);
    for (const out of [child.stdout, child.stderr])
      out.on('data', (bytes) => void said.push(`${name}: ${bytes}`));
    await new Promise((done) => child.once('exit', done));
    if (!isEnding) await pause(500);
  }
}

let ended: Promise<unknown> = Promise.resolve();
afterAll(async () => {
  isEnding = true;
  for (const child of running.values()) child.kill('SIGTERM');
  await ended;
});

test('its command lines are a cluster', async () => {
  const project = join(folder, 'project');
  mkdirSync(project);
  writeProject(project, {
    sources: people,
    config: { 'storage.min_free': 0, 'storage.ballast': 0 },
  });
  // Every service has ports of its own here, where each has an address of its own there.
  const places = new Map<string, string>();
  for (const [log] of logs)
    for (const port of [4222, 6222, 8222])
      places.set(`${log}:${port}`, `127.0.0.1:${await freePort()}`);
  const here = (line: string): string =>
    line.replace(/\b(log\d):(\d+)/g, (named) => places.get(named)!);
  const started: Promise<void>[] = [];
  for (const [log, { command, volumes }] of logs) {
    const data = join(folder, log);
    const own = (line: string): string =>
      here(line)
        .replace(/0\.0\.0\.0:(\d+)/g, (_, port) => places.get(`${log}:${port}`)!)
        .replaceAll('/data', data);
    const line = command.map((word) => {
      const from = volumes.map((one) => one.split(':')).find(([, to]) => to === word)?.[0];
      if (from === undefined) return word;
      const config = join(folder, `${log}.conf`);
      writeFileSync(config, own(readFileSync(join(place, from), 'utf8')));
      return config;
    });
    started.push(keep(log, [process.env.TRELLIS_NATS_SERVER!, ...line], process.env));
  }
  const urls: string[] = [];
  const key = 'shown by callers, 32 characters long';
  for (const [node, { entrypoint, command, environment }] of nodes) {
    const [data, port] = [join(folder, node), await freePort()];
    mkdirSync(data);
    const given = { TRELLIS_API_KEY: key, TRELLIS_SECRET: 'ab'.repeat(32) };
    const values = Object.entries({ ...environment, ...given });
    const env = {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      TRELLIS_DATA_DIR: data,
      TRELLIS_PORT: String(port),
      ...Object.fromEntries(values.map(([name, value]) => [name, here(value)])),
    };
    const line = [...entrypoint!, ...command].map((word) =>
      word
        .replaceAll('$$TRELLIS_CLUSTER_NODE:6969', `127.0.0.1:${port}`)
        .replaceAll('$$', '$')
        .replaceAll('/app/dist', join(root, 'dist'))
        .replaceAll('/data/', `${data}/`)
        .replaceAll(' /project', ` ${project}`),
    );
    started.push(keep(node, line, env));
    urls.push(`http://127.0.0.1:${port}`);
  }
  ended = Promise.all(started);
  const clients = urls.map((url) => connect({ url, apiKey: key, retries: 20 }));
  try {
    for (const client of clients) await client.waitUntilReady(90_000);
  } catch (error) {
    throw new RangeError(said.slice(-20).join('\n'), { cause: error });
  }
  for (const [i, client] of clients.entries()) await client.call('add', { name: `n${i}` });
  const strong = { 'Trellis-Consistency': 'strong' };
  for (const url of urls) {
    const one = connect({ url, apiKey: key, headers: strong, retries: 20 });
    expect(await one.call('all', {}, { shape: { writes: false, at: 0 } })).toEqual({ p: 3 });
  }
  await expect(connect({ url: urls[0]!, retries: 0 }).call('all')).rejects.toMatchObject({
    code: 'API_KEY_REQUIRED',
  });
});
