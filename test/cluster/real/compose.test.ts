// The file for Docker Compose, as far as it can be seen without Docker: what it names is there, and its command
// lines, run as processes of this machine, are three log servers and three nodes, started again until they stay as
// Compose does.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { driver } from '../../../engine/cluster/log/jetstream.js';
import { connect } from '../../../server/client/client.js';
import { freePort } from '../../support/cluster/nats-servers.js';
import { makeFolder, root, writeProject } from '../../support/project.js';
import { people } from '../support/servers.js';

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
  ...['depends_on', 'stop_grace_period', 'security_opt', 'cap_drop', 'healthcheck'],
]);

const folder = makeFolder();
/** Where the script has made what is secret, as people run it. */
const made = join(folder, 'made');

/** `.env`. */
function secretsMade(): Record<string, string> {
  const said = readFileSync(join(made, '.env'), 'utf8').trim().split('\n');
  return Object.fromEntries(said.map((line) => line.split('=') as [string, string]));
}

function makeSecrets(): void {
  mkdirSync(made, { recursive: true });
  execFileSync('sh', [join(place, 'make-secrets.sh'), made], { stdio: 'ignore' });
}

beforeAll(makeSecrets);

test('the script creates the secrets one time, and only its user can read them', () => {
  const names = readdirSync(join(made, 'secrets'));
  const filesOf = (): string[] =>
    names.map((name) => readFileSync(join(made, 'secrets', name), 'utf8'));
  const before = [filesOf(), secretsMade()];
  makeSecrets();
  expect([filesOf(), secretsMade()]).toEqual(before);
  const modes = ['secrets', '.env', 'secrets/ca.key'].map(
    (name) => statSync(join(made, name)).mode & 0o077,
  );
  expect(modes).toEqual([0, 0, 0]);
  // Every variable that the file asks for, and none twice the same.
  const asked = [...text.matchAll(/\$\{(\w+_\w+):\?/g)].map(([, name]) => name!);
  expect(asked.filter((name) => secretsMade()[name] === undefined)).toEqual([]);
  expect(new Set(Object.values(secretsMade())).size).toBe(Object.keys(secretsMade()).length);
  for (const value of Object.values(secretsMade())) expect(value.length).toBeGreaterThan(60);
  // What is made is never committed, nor part of an image.
  expect(readFileSync(join(place, '.gitignore'), 'utf8').split('\n')).toContain('secrets/');
  const left = readFileSync(join(place, '../Dockerfile.dockerignore'), 'utf8').split('\n');
  expect(left).toEqual(expect.arrayContaining(['**/.env', '**/secrets']));
});

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
      if (path.startsWith('./secrets/')) expect(existsSync(join(made, path)), path).toBe(true);
      else if (path.startsWith('.')) expect(existsSync(resolve(place, path)), path).toBe(true);
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

/** A mounted file, where it lies here. */
const sourceOf = (from: string): string =>
  from.startsWith('./secrets/') ? join(made, from) : resolve(place, from);

/** A text with the paths of a container's mounted files as they are here. */
function mountedIn(volumes: readonly string[]): (text: string) => string {
  const files = volumes
    .map((volume) => volume.split(':') as [string, string])
    .filter(([from]) => from.startsWith('./secrets/'));
  return (line) => files.reduce((text, [from, to]) => text.replaceAll(to, sourceOf(from)), line);
}

/** As Compose fills in what `.env` says. */
function filled(environment: Record<string, string>): Record<string, string> {
  const secrets = secretsMade();
  const values = Object.entries(environment).map(([name, value]) => [
    name,
    value.replace(/\$\{(\w+):\?[^}]*\}/g, (_, asked: string) => secrets[asked]!),
  ]);
  return Object.fromEntries(values);
}

/** `fetch` that trusts the authority of the cluster, as NODE_EXTRA_CA_CERTS has it do. */
const trusting: typeof fetch = (url, init) =>
  new Promise((done, fail) => {
    const { method = 'GET', headers, body, signal } = init ?? {};
    const asked = request(
      String(url),
      {
        method,
        headers: Object.fromEntries(new Headers(headers)),
        ca: readFileSync(join(made, 'secrets/ca.pem')),
        ...(signal && { signal }),
      },
      async (reply) => {
        const pieces: Buffer[] = [];
        for await (const piece of reply) pieces.push(piece as Buffer);
        const told = Object.entries(reply.headers).map(([name, value]) => [name, String(value)]);
        const { statusCode: status = 0 } = reply;
        done(new Response(Buffer.concat(pieces), { status, headers: Object.fromEntries(told) }));
      },
    );
    asked.once('error', fail);
    asked.end(body ?? undefined);
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
  for (const [log, { command, volumes, environment }] of logs) {
    const data = join(folder, log);
    const mounted = mountedIn(volumes);
    const own = (line: string): string =>
      mounted(
        here(line)
          .replace(/0\.0\.0\.0:(\d+)/g, (_, port) => places.get(`${log}:${port}`)!)
          .replaceAll('/data', data),
      );
    const etc = join(folder, `${log}-etc`);
    mkdirSync(etc);
    for (const volume of volumes) {
      const [from, to] = volume.split(':') as [string, string];
      if (!to.startsWith('/etc/nats/')) continue;
      writeFileSync(join(etc, basename(to)), own(readFileSync(sourceOf(from), 'utf8')));
    }
    const line = command.map((word) => word.replace('/etc/nats', etc));
    const env = { PATH: process.env.PATH, ...filled(environment!) };
    started.push(keep(log, [process.env.TRELLIS_NATS_SERVER!, ...line], env));
  }
  const urls: string[] = [];
  const key = secretsMade().TRELLIS_API_KEY!;
  for (const [node, { entrypoint, command, environment, volumes }] of nodes) {
    const [data, port] = [join(folder, node), await freePort()];
    mkdirSync(data);
    const mounted = mountedIn(volumes);
    const values = Object.entries(filled(environment!));
    const env = {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      TRELLIS_DATA_DIR: data,
      TRELLIS_PORT: String(port),
      ...Object.fromEntries(values.map(([name, value]) => [name, mounted(here(value))])),
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
    urls.push(`https://127.0.0.1:${port}`);
  }
  ended = Promise.all(started);
  const clients = urls.map((url) => connect({ url, apiKey: key, retries: 20, fetch: trusting }));
  try {
    for (const client of clients) await client.waitUntilReady(90_000);
  } catch (error) {
    throw new RangeError(said.slice(-20).join('\n'), { cause: error });
  }
  for (const [i, client] of clients.entries()) await client.call('add', { name: `n${i}` });
  const strong = { 'Trellis-Consistency': 'strong' };
  for (const url of urls) {
    const one = connect({ url, apiKey: key, headers: strong, retries: 20, fetch: trusting });
    expect(await one.call('all', {}, { shape: { writes: false, at: 0 } })).toEqual({ p: 3 });
  }
  await expect(
    connect({ url: urls[0]!, retries: 0, fetch: trusting }).call('all'),
  ).rejects.toMatchObject({
    code: 'API_KEY_REQUIRED',
  });
  // The log takes nothing from whoever shows no password, nor over a line that is not encrypted.
  const log = { name: 'trellis', keepBytes: 1, url: `tls://${places.get('log1:4222')}?replicas=3` };
  const tls = { ca: join(made, 'secrets/ca.pem') };
  await expect(driver.open({ ...log, tls })).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
  const plain = { ...log, url: log.url.replace('tls:', 'nats:') };
  await expect(driver.open(plain)).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
  // What the nodes have written is signed.
  const asked = { method: 'POST', body: '{}', headers: { 'x-api-key': key } };
  const status = await trusting(`${urls[1]}/_admin/cluster-status`, asked);
  expect(await status.json()).toMatchObject({ signed_by: expect.stringMatching(/^[0-9a-f]{8}$/) });
});
