// What is shipped for operators (tooling.md 8): the dashboard and the alarms name metrics that there are, the
// image has what the server needs and nothing that is not there, systemd hears when the server is ready.
import { spawn } from 'node:child_process';
import {
  chmodSync,
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
import { families } from '../../server/observe/families.js';
import { makeFolder, removeFolder, root } from '../support/project.js';

const deploy = join(root, 'server/deploy');
const read = (name: string): string => readFileSync(join(deploy, name), 'utf8');

/** Every name of ours in the expressions of a text; histograms are named by their parts. */
function metricsIn(text: string): string[] {
  const names = text.match(/\b(?:trellis|process)_[a-z0-9_]+/g) ?? [];
  return [...new Set(names)];
}

function isExported(name: string): boolean {
  const known = families as Record<string, { type: string }>;
  const own = name.replace(/^trellis_/, '');
  if (Object.hasOwn(known, own)) return known[own]!.type !== 'histogram';
  const part = /^(.*)_(bucket|sum|count)$/.exec(own);
  return part !== null && known[part[1]!]?.type === 'histogram';
}

test('W13 every metric of the dashboard and of the alarms is exported', () => {
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
});

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

test('W12 the image: what it copies starts, and ends on SIGTERM with 0', {
  timeout: 60_000,
}, async () => {
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
    writeFileSync(join(project, 'a.hx'), 'QUERY one() => RETURN 1\n');
    const [program, ...rest] = JSON.parse(textOf('ENTRYPOINT')) as string[];
    expect(program).toBe('node');
    const words = [...rest, ...(JSON.parse(textOf('CMD')) as string[]), '--port', '0'].map((word) =>
      word.replace(/^\/app/, folder).replace(/^\/project$/, project),
    );
    // What systemd gives a service: a socket to tell, and the program that tells it.
    const heard = join(folder, 'heard');
    writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$@" >> '${heard}'\n`);
    chmodSync(join(folder, 'systemd-notify'), 0o755);
    const child = spawn(process.execPath, words, {
      env: {
        PATH: `${folder}:${process.env.PATH}`,
        TRELLIS_DATA_DIR: join(folder, 'data'),
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
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(readFileSync(heard, 'utf8').split('\n')).toEqual(['READY=1', 'STOPPING=1', '']);
  } finally {
    removeFolder(folder);
  }
});

test('W12 the unit keeps to what the server asks of it', () => {
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
