// T24: secrets are planted wherever an operator or a client puts one, everything that can go wrong
// with them is made to go wrong at the highest level of logging, and then every answer, every line
// of the log, the metrics, the configuration as printed and every file of the data directory, a
// backup and a dump are searched for them, as they are and encoded.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { type Server as HttpServer, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../../server/config/config.js';
import { printConfig } from '../../../server/config/secrets.js';
import { changeKeyFile } from '../../../server/auth/key-file.js';
import { makeKey } from '../../../server/auth/key-record.js';
import { noteProof } from '../../support/proof.js';
import { commandHere } from '../../support/server/command-here.js';
import { type Server, startServer } from '../../support/server/server.js';

const word = (name: string): string => `planted${name}0123456789abcdefXYZ`;
/** By where each was planted. */
const secrets: Record<string, string> = {
  'the key of the environment': word('Root'),
  'the credential of a provider': `sk-${word('Provider')}`,
  "the password in a provider's address": word('Password'),
  'a key that was mistyped': word('Mistyped'),
  'a value in a body': word('Value'),
  'a key in the address': word('Query'),
};
const [root, provider, password, mistyped, value, inQuery] = Object.values(secrets);

const sources = {
  'main.hx': `
N::Person { UNIQUE INDEX name: String, age: U8 }
V::Doc { text: String }
QUERY ping() => RETURN "pong"
QUERY add(name: String, age: U8) => p <- AddN<Person>({ name, age }) RETURN NONE
QUERY find(name: String) => p <- N<Person>({ name: name }) RETURN p
QUERY embed(text: String) => v <- AddV<Doc>(Embed(text), { text: "none" }) RETURN NONE
#[model("azure_openai:dep")]
QUERY other(text: String) => v <- AddV<Doc>(Embed(text), { text: "none" }) RETURN NONE
`,
};

/** Says back what it was sent, in several ways and with several statuses. */
let echo: HttpServer;
let asked = 0;
let server: Server;
const heard: string[] = [];

beforeAll(async () => {
  echo = createServer((request, response) => {
    const said = JSON.stringify(request.headers);
    const key = String(request.headers.authorization ?? request.headers['api-key']);
    const bodies = [
      JSON.stringify({ error: { message: `Incorrect API key provided: ${key}.` } }),
      JSON.stringify({ error: { message: `headers were ${said}` } }),
      `<html>${encodeURIComponent(key)} ${said}</html>`,
      JSON.stringify({ error: key }),
      JSON.stringify({ message: `${key.slice(0, -1)}` }),
    ];
    response.writeHead([401, 400, 500, 429, 403][asked % 5]!, { location: `/${key}` });
    response.end(bodies[asked++ % bodies.length]);
  });
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(echo.address() as AddressInfo).port}`;
  server = await startServer({
    sources,
    config: {
      'embedding.model': 'openai:m',
      'embedding.retries': 0,
      'log.level': 'debug',
      'log.slow_after': 0,
      'log.access_sample_rate': 1,
      'storage.ballast': 0,
    },
    env: {
      TRELLIS_API_KEY: root!,
      OPENAI_API_KEY: provider!,
      OPENAI_BASE_URL: `http://${address}/v1`,
      AZURE_OPENAI_API_KEY: provider!,
      AZURE_OPENAI_ENDPOINT: `http://user:${password}@${address}`,
    },
  });
});
afterAll(async () => {
  await server?.dispose();
  echo?.close();
});

async function ask(path: string, key: string, body?: object, method = 'POST'): Promise<void> {
  const { status, headers, text } = await server.client.request({
    method,
    path,
    headers: { 'x-api-key': key, 'X-Request-Timeout-Ms': '2000' },
    ...(body && { body: JSON.stringify(body) }),
  });
  heard.push(`${status} ${JSON.stringify([...headers])} ${text}`);
}

/** Whatever may be made of a secret on its way. */
function forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    bytes.toString('base64').replace(/=+$/, '').slice(0, -2),
    bytes.toString('hex'),
    secret.slice(0, -1),
    secret.toLowerCase(),
  ];
}

const filesUnder = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : statSync(path).isFile() ? [path] : [];
  });

/** The configuration of a project with secrets, as `trellis config print` shows it. */
function printedConfig(): string {
  const environment = {
    TRELLIS_API_KEY: root!,
    OPENAI_API_KEY: provider!,
    AZURE_OPENAI_ENDPOINT: `https://user:${password}@provider.example/`,
  };
  return printConfig(loadConfig({ projectDir: server.project, flags: new Map(), environment }));
}

test('T24 planted secrets are found nowhere', async () => {
  const { record, text: reader } = makeKey({ name: 'writer', role: 'write' }, new Date());
  secrets['a key of the file'] = reader.split('_')[2]!;
  changeKeyFile(join(server.data, 'keys.json'), (keys) => [...keys, record]);
  await expect
    .poll(
      async () =>
        (await server.client.request({ path: 'ping', headers: { 'x-api-key': reader } })).status,
    )
    .toBe(200);
  for (const key of [reader, root!]) {
    for (let i = 0; i < 5; i++) await ask('embed', key, { text: `text ${i}` });
    for (let i = 0; i < 5; i++) await ask('other', key, { text: `text ${i}` });
    await ask('add', key, { name: 'one', age: 3 });
    await ask('_admin/backup', key, { name: 'safe' });
    for (const path of ['metrics', 'slowlog', 'introspect', '_admin/indexes']) {
      await ask(path, key, undefined, 'GET');
    }
  }
  for (const key of [mistyped!, `${reader}x`, root!.slice(0, -1)]) await ask('ping', key, {});
  await ask(`ping?api_key=${inQuery}&x-api-key=${inQuery}`, '');
  await ask(`metrics?key=${inQuery}`, root!, undefined, 'GET');
  // Whoever sent a value may see it again in the answer; the log may not.
  const quiet = heard.length;
  await ask('add', root!, { name: value!, age: 'x' });
  await ask('add', root!, { name: value!, age: 7, [value!]: 1 });
  await ask('add', root!, { name: value!, age: 7 });
  await ask('find', root!, { name: value! });
  heard.length = quiet;
  for (const path of ['metrics', 'slowlog']) await ask(path, root!, undefined, 'GET');

  heard.push(printedConfig());
  const dumpFile = join(server.folder, 'dump.ndjson');
  const argv = ['dump', dumpFile, '--data', server.data, '--key', root!];
  const { code, stdout, stderr } = await commandHere(argv, server.project);
  expect(code).toBe(0);
  heard.push(stdout + stderr);
  await server.stop();
  expect(asked).toBeGreaterThan(9);

  const places = new Map<string, string>([
    ['answers and commands', heard.join('\n')],
    ['log', server.stdout + server.stderr],
  ]);
  const files = [...filesUnder(server.data), dumpFile];
  for (const path of files) places.set(path, readFileSync(path, 'latin1'));
  const found: string[] = [];
  for (const [what, secret] of Object.entries(secrets)) {
    for (const [place, text] of places) {
      // The value is data: it belongs into data files.
      if (secret === value && place.startsWith('/')) continue;
      for (const form of forms(secret)) {
        const at = text.indexOf(form);
        if (at >= 0)
          found.push(`${what} in ${place}: ${text.slice(Math.max(0, at - 90), at + 60)}`);
      }
    }
  }
  expect(found).toEqual([]);
  const bytes = [...places.values()].reduce((sum, text) => sum + text.length, 0);
  noteProof(
    'T24',
    `${Object.keys(secrets).length} secrets, ${heard.length} answers and outputs, ` +
      `${files.length} files, ${(bytes / 1e6).toFixed(1)} MB searched: 0 found`,
  );
});
