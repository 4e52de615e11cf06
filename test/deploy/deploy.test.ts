// The files for operators (tooling.md 8): the dashboard and the alarms use existing metrics, the image has
// everything that the server needs and nothing that does not exist, and systemd is notified when the server
// is ready.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { families } from '../../server/telemetry/metric-definitions.js';
import { makeFolder, removeFolder, root } from '../support/project.js';
import { promtool } from '../support/promtool.js';
import { startServer } from '../support/server/server.js';

const deploy = join(root, 'server/deploy');
const read = (name: string): string => readFileSync(join(deploy, name), 'utf8');

/** Who the image runs as, where this process may say so and everybody may read the checkout. */
const nobody = 10001;
function mayRunAsNobody(): boolean {
  if (process.getuid?.() !== 0) return false;
  const options = { uid: nobody, gid: nobody };
  const argv = [
    '-e',
    `require('node:fs').readFileSync(${JSON.stringify(join(root, 'package.json'))})`,
  ];
  return spawnSync(process.execPath, argv, options).status === 0;
}

/** Every name of ours in the expressions of a text; histograms are named by their parts. */
function metricsIn(text: string): string[] {
  const names = text.match(/\b(?:trellis|process)_[a-z0-9_]+/g) ?? [];
  return [...new Set(names)];
}

function isExported(name: string): boolean {
  // Former names are printed, too; new dashboards do not use them.
  const known = families as Record<string, { type: string }>;
  const own = name.replace(/^trellis_/, '');
  if (Object.hasOwn(known, own)) return known[own]!.type !== 'histogram';
  const part = /^(.*)_(bucket|sum|count)$/.exec(own);
  return part !== null && known[part[1]!]?.type === 'histogram';
}

test('W13 every metric of the dashboard and of the alarms is exported', async () => {
  const dashboard = JSON.parse(read('grafana.json')) as {
    schemaVersion: number;
    panels: { type: string; title: string; targets?: { expr: string }[] }[];
  };
  expect(dashboard.schemaVersion).toBe(39);
  const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title);
  expect(rows).toHaveLength(7);
  const named = [...metricsIn(read('grafana.json')), ...metricsIn(read('prometheus-rules.yml'))];
  expect(named.length).toBeGreaterThan(25);
  expect(named.filter((name) => !isExported(name))).toEqual([]);
  const rules = [...read('prometheus-rules.yml').matchAll(/^ {6}- alert: (\w+)$/gm)];
  expect(rules).toHaveLength(8);
  // Where the makers' own program is, it reads the rules, too.
  const argv = ['check', 'rules', join(deploy, 'prometheus-rules.yml')];
  const said = await promtool(argv);
  if (said !== undefined) expect(said).toEqual([0, expect.stringContaining('8 rules found')]);
});

/** Everything in a folder but what is the server's own. */
const listOf = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true }) as string[])
    .filter((path) => !path.startsWith('own/') && !path.startsWith('node_modules/'))
    .sort();

interface Instruction {
  name: string;
  text: string;
}
const instructions = (): Instruction[] =>
  [
    ...read('Dockerfile')
      .replaceAll('\\\n', '')
      .matchAll(/^([A-Z]+) +(.*)$/gm),
  ].map((match) => ({
    name: match[1]!,
    text: match[2]!,
  }));
const textOf = (name: string): string =>
  instructions().findLast((each) => each.name === name)!.text;

test('W12 W13 the image: it runs as the user nobody, writes only its data, exits with 0', async () => {
  expect(instructions().filter(({ name }) => name === 'FROM')).toHaveLength(2);
  expect([textOf('USER'), textOf('STOPSIGNAL'), textOf('EXPOSE')]).toEqual([
    '10001:10001',
    'SIGTERM',
    '6969',
  ]);
  const folder = makeFolder();
  try {
    for (const { name, text } of instructions()) {
      const copied = name === 'COPY' ? /^--from=build \/app\/(\S+) (\S+)$/.exec(text) : null;
      if (copied === null) continue;
      const [from, to] = [
        join(root, copied[1]!),
        join(folder, copied[2] === './' ? copied[1]! : copied[2]!),
      ];
      expect([from, existsSync(from)]).toEqual([from, true]);
      mkdirSync(dirname(to), { recursive: true });
      if (copied[1] === 'node_modules') symlinkSync(from, to);
      else cpSync(from, to, { recursive: true });
    }
    const project = join(folder, 'project');
    mkdirSync(project);
    writeFileSync(
      join(project, 'a.hx'),
      'V::Point { no: U8 }\nQUERY put() => p <- AddV<Point>([1.0, 2.0], {no: 1}) RETURN p::{no}\n',
    );
    const [program, ...rest] = JSON.parse(textOf('ENTRYPOINT')) as string[];
    expect(program).toBe('node');
    const words = [...rest, ...(JSON.parse(textOf('CMD')) as string[]), '--port', '0'].map((word) =>
      word.replace(/^\/app/, folder).replace(/^\/project$/, project),
    );
    // What systemd gives a service: a socket to tell, and the program that tells it.
    const own = join(folder, 'own');
    const heard = join(own, 'heard');
    mkdirSync(own);
    const isNobody = mayRunAsNobody();
    if (isNobody) {
      chmodSync(folder, 0o755);
      chownSync(own, nobody, nobody);
    } else console.log('the image is tried as whoever runs the tests');
    writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$@" >> '${heard}'\n`);
    chmodSync(join(folder, 'systemd-notify'), 0o755);
    const before = listOf(folder);
    const child = spawn(process.execPath, words, {
      ...(isNobody && { uid: nobody, gid: nobody }),
      env: {
        PATH: `${folder}:${process.env.PATH}`,
        TRELLIS_DATA_DIR: join(own, 'data'),
        NOTIFY_SOCKET: join(folder, 'socket'),
      },
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const url = await new Promise<string>((resolve) => {
      child.stdout.on('data', (text: Buffer) => {
        const [, port] = /^trellis ready \S+:(\d+)$/m.exec(String(text)) ?? [];
        if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
      });
    });
    // The page is all there.
    const page = await (await fetch(`${url}/`, { headers: { Accept: 'text/html' } })).text();
    const [, script] = /src="([^"]+)"/.exec(page)!;
    expect((await fetch(`${url}${script!.replace(/^\.?\/?/, '/')}`)).status).toBe(200);
    // Each metric that the dashboard and the alarms name is told of, once there is something to tell.
    const headers = { 'Content-Type': 'application/json' };
    for (const [path, body] of [
      ['put', '{}'],
      ['mcp', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
      ['nothing', '{}'],
      ['_admin/recall', '{"type":"Point"}'],
    ] as const)
      await fetch(`${url}/${path}`, { method: 'POST', headers, body });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const told = new Set(
      [...metrics.matchAll(/^(?:# TYPE )?([a-z_0-9]+)/gm)].map(([, name]) => name),
    );
    const named = [...metricsIn(read('grafana.json')), ...metricsIn(read('prometheus-rules.yml'))];
    expect(named.filter((name) => !told.has(name))).toEqual([]);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(listOf(folder)).toEqual(before);
    expect(readFileSync(heard, 'utf8').split('\n')).toEqual(['READY=1', 'STOPPING=1', '']);
  } finally {
    removeFolder(folder);
  }
});

test('W12 the unit grants what the server requires', () => {
  const unit = read('trellis.service');
  for (const line of [
    'Type=notify',
    'DynamicUser=yes',
    'ProtectSystem=strict',
    'LimitNOFILE=65536',
  ])
    expect(unit).toContain(`\n${line}\n`);
  expect(readdirSync(deploy).sort()).toEqual([
    ...['Dockerfile', 'Dockerfile.dockerignore', 'cluster', 'compose.yml', 'grafana.json'],
    'kubernetes.yml',
    ...['prometheus-rules.yml', 'prometheus.yml', 'trellis.service'],
  ]);
});

test('W12 the shipped files for one server require a key and use TLS', async () => {
  const text = read('compose.yml');
  const compose = parse(text, { schema: 'failsafe' }) as {
    services: {
      trellis: { environment: Record<string, string>; healthcheck: { test: [string, string] } };
    };
  };
  const { environment, healthcheck } = compose.services.trellis;
  expect(environment.TRELLIS_API_KEY).toMatch(/^\$\{TRELLIS_API_KEY:\?/);
  // As people run what the file says, in another place.
  const folder = makeFolder();
  const comment = text.match(/^#.*$/gm)!.map((line) => line.slice(1));
  const from = comment.findIndex((line) => line.includes('openssl req'));
  const command = comment.slice(from, from + 3).join('\n');
  expect(command).toMatch(/chmod 644 \S+\s*$/);
  const done = spawnSync('sh', ['-c', command.replaceAll('server/deploy/tls', `${folder}/tls`)]);
  expect([done.status, String(done.stderr).includes('rror')]).toEqual([0, false]);
  const env = {
    TRELLIS_API_KEY: 'key-of-callers, which is long enough',
    TRELLIS_TLS_CERT: environment.TRELLIS_TLS_CERT!.replace(/^/, folder),
    TRELLIS_TLS_KEY: environment.TRELLIS_TLS_KEY!.replace(/^/, folder),
  };
  const server = await startServer({ sources: { 'a.hx': 'N::P { name: String }' }, env });
  try {
    expect(server.readyLine).toContain('https://');
    const [how, line] = healthcheck.test;
    expect(how).toBe('CMD-SHELL');
    const check = (port: number) =>
      new Promise((resolve) => {
        const asked = spawn('sh', ['-c', line.replace('6969', String(port))], { stdio: 'ignore' });
        asked.once('exit', resolve);
      });
    expect(await check(server.port)).toBe(0);
    expect(await check(1)).toBe(1);
  } finally {
    await server.dispose();
  }
  const [, set] = parseAllDocuments(read('kubernetes.yml')).map((one) => one.toJS());
  const { containers, volumes } = set.spec.template.spec;
  const [{ env: given, startupProbe, livenessProbe, readinessProbe, volumeMounts }] = containers;
  const named = Object.fromEntries(
    (given as { name: string; value?: string }[]).map(({ name, value }) => [name, value]),
  );
  expect([named.TRELLIS_TLS_CERT, named.TRELLIS_TLS_KEY]).toEqual(['/tls/tls.crt', '/tls/tls.key']);
  for (const probe of [startupProbe, livenessProbe, readinessProbe])
    expect(probe.httpGet.scheme).toBe('HTTPS');
  expect(volumeMounts).toContainEqual({ name: 'tls', mountPath: '/tls', readOnly: true });
  expect(volumes).toContainEqual({ name: 'tls', secret: { secretName: 'trellis-tls' } });
  removeFolder(folder);
});
