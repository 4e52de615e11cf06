// Credentials are sent only to addresses from the same source: each provider, S3 and NATS, for every source
// of the address and of the credential. A downloaded project gets no key of the user.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createPlainServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmbedder } from '../../engine/embed/create-embedder.js';
import { modelDestination } from '../../engine/embed/provider/model-check.js';
import { loadConfig } from '../../server/config/config.js';
import { checkProjectPaths } from '../../server/config/project-paths.js';
import { makeFolder, writeProject } from '../support/project.js';
import { EmbeddingStub } from '../support/server/embedding-stub.js';
import { runCli, startServer } from '../support/server/server.js';

type Place = 'environment' | '.env';
const places: readonly Place[] = ['environment', '.env'];
/** Nowhere, in one of them, in both. */
const subsets: readonly Place[][] = [[], ['environment'], ['.env'], ['environment', '.env']];

const stubs = {} as Record<Place, EmbeddingStub>;
beforeAll(async () => {
  for (const place of places) stubs[place] = await EmbeddingStub.open();
});
afterAll(() => Promise.all(places.map((place) => stubs[place].close())));

const providers = [
  ['openai:m', 'OPENAI_BASE_URL', 'OPENAI_API_KEY', 'api.openai.com'],
  ['azure_openai:m', 'AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_API_KEY', undefined],
  ['gemini:m', 'GEMINI_BASE_URL', 'GEMINI_API_KEY', 'generativelanguage.googleapis.com'],
  ['voyage:m', 'VOYAGE_BASE_URL', 'VOYAGE_API_KEY', 'api.voyageai.com'],
  ['mistral:m', 'MISTRAL_BASE_URL', 'MISTRAL_API_KEY', 'api.mistral.ai'],
  ['jina:m', 'JINA_BASE_URL', 'JINA_API_KEY', 'api.jina.ai'],
] as const;

const keyOf = (place: Place): string => `key-of-${place === '.env' ? 'project' : 'caller'}`;

function configured(address: string, at: Place[], credential: string, keyed: Place[]) {
  const variables: Record<Place, Record<string, string>> = { environment: {}, '.env': {} };
  for (const place of at) variables[place][address] = stubs[place].url;
  for (const place of keyed) variables[place][credential] = keyOf(place);
  const projectDir = makeFolder();
  const lines = Object.entries(variables['.env']).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(projectDir, '.env'), lines.join(''));
  return loadConfig({ projectDir, flags: new Map(), environment: variables.environment });
}

const cells = providers.flatMap((provider) =>
  subsets.flatMap((at) => subsets.map((keyed) => ({ provider, at, keyed }))),
);

test.each(cells)('$provider.0, address in $at, key in $keyed', async ({ provider, at, keyed }) => {
  const [model, address, credential, usual] = provider;
  const config = configured(address, at, credential, keyed);
  for (const place of places) stubs[place].requests.length = 0;
  const used = places.find((place) => at.includes(place));
  if (used === undefined) {
    // Azure has no address of its own; the others' is the providers'.
    const isKeyed = keyed.length > 0 && usual !== undefined;
    const wanted = isKeyed ? { host: usual, variable: credential } : undefined;
    expect(modelDestination(model, config)).toEqual(wanted);
    const value = keyed.length === 0 ? undefined : keyOf(keyed[0]!);
    expect(config.environment[credential]).toBe(value);
    return;
  }
  const { environment, withheld } = config;
  const rules = { timeoutMs: 5_000, retries: 0, cacheEntries: 0, allowPrivate: false };
  const embedder = createEmbedder({ environment, withheld, ...rules });
  const asked = embedder.embed(model, ['a'], performance.now() + 5_000);
  if (keyed.includes(used)) {
    await asked;
    expect(stubs[used].requests).toHaveLength(1);
    expect(JSON.stringify(stubs[used].requests[0]!.headers)).toContain(keyOf(used));
    const { host } = new URL(stubs[used].url);
    expect(modelDestination(model, config)).toEqual({ host, variable: credential });
  } else if (keyed.length === 0) {
    // A server on this machine needs no credential, and gets none.
    await asked;
    expect(modelDestination(model, config)).toBeUndefined();
    expect(JSON.stringify(stubs[used].requests[0]!.headers)).not.toContain('key-of');
  } else {
    const named = `${address} is set in .*${credential} in`;
    await expect(asked).rejects.toMatchObject({
      data: { code: 'EMBEDDING_NOT_CONFIGURED', args: { what: expect.stringMatching(named) } },
    });
    expect(modelDestination(model, config)).toBeUndefined();
  }
  const all = places.flatMap((place) => stubs[place].requests);
  expect(all).toHaveLength(keyed.includes(used) || keyed.length === 0 ? 1 : 0);
});

test('a project names no proxy: only the environment does', () => {
  const projectDir = makeFolder();
  writeFileSync(join(projectDir, '.env'), 'HTTPS_PROXY=http://project\nno_proxy=*\n');
  const environment = { HTTP_PROXY: 'http://caller' };
  const { environment: used } = loadConfig({ projectDir, flags: new Map(), environment });
  expect([used.HTTPS_PROXY, used.HTTP_PROXY, used.no_proxy]).toEqual([
    undefined,
    'http://caller',
    undefined,
  ]);
});

test('the resource of Azure is an address, too', () => {
  const projectDir = makeFolder();
  writeFileSync(join(projectDir, '.env'), 'AZURE_OPENAI_RESOURCE_NAME=mine\n');
  const environment = { AZURE_OPENAI_API_KEY: 'k' };
  const config = loadConfig({ projectDir, flags: new Map(), environment });
  expect(modelDestination('azure_openai:m', config)).toBeUndefined();
  expect(config.withheld).toHaveProperty('AZURE_OPENAI_API_KEY');
});

const schema = 'V::Note { text: String }\n';
const embeds = `${schema}QUERY add(text: String) =>
    note <- AddV<Note>(Embed(text), { text: text })
    RETURN note
`;
const seed = '{"query":"add","body":{"text":"hello"}}\n';

test('trellis dev sends the key of the shell to no host that a project names', async () => {
  const project = makeFolder();
  const env = `OPENAI_BASE_URL=${stubs['.env'].url}\n`;
  writeProject(project, {
    sources: { 'a.hx': embeds, 'seed.ndjson': seed, '.env': env },
    config: { 'embedding.model': 'openai:m' },
  });
  stubs['.env'].requests.length = 0;
  const argv = ['dev', project, '--port', '0', '--data', join(makeFolder(), 'data')];
  const done = await runCli(argv, { env: { OPENAI_API_KEY: 'key-of-caller' } });
  expect(done.code).toBe(65);
  expect(done.stdout + done.stderr).toMatch(/OPENAI_BASE_URL is set in .*same source/);
  expect(stubs['.env'].requests).toEqual([]);
});

test('the start says in one line which host gets which credential', async () => {
  const { host } = new URL(stubs.environment.url);
  const server = await startServer({
    sources: { 'a.hx': embeds, 'seed.ndjson': seed },
    config: { 'embedding.model': 'openai:m' },
    command: 'dev',
    env: { OPENAI_BASE_URL: stubs.environment.url, OPENAI_API_KEY: 'key-of-caller' },
  });
  const lines = server.stderr.split('\n').filter((line) => line.includes('credentials:'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(`credentials: ${host} gets OPENAI_API_KEY (environment)`);
  expect(server.stderr).not.toContain('key-of-caller');
  // A reload that sends none any more, and one that does so again.
  const change = async (text: string, reloads: number): Promise<string> => {
    writeFileSync(join(server.project, 'a.hx'), text);
    const reloaded = () => server.stderr.split('sources reloaded').length - 1;
    await expect.poll(reloaded).toBe(reloads);
    return server.stderr.split('sources reloaded').at(-2)!;
  };
  await change(`${schema}QUERY one() => RETURN 1\n`, 1);
  expect(await change(embeds, 2)).toContain(`${host} gets OPENAI_API_KEY`);
  await server.dispose();
});

describe('the log of a cluster', () => {
  let connections = 0;
  const nats = createPlainServer((socket) => {
    connections++;
    socket.destroy();
  });
  const store = createServer((_, response) => {
    connections++;
    response.writeHead(404).end();
  });
  beforeAll(async () => {
    for (const one of [nats, store])
      await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    nats.close();
    store.close();
  });
  const portOf = (one: { address: () => unknown }): number => (one.address() as AddressInfo).port;
  const urlOf = (kind: string): string =>
    kind === 'nats'
      ? `nats://127.0.0.1:${portOf(nats)}?replicas=1`
      : `s3://bucket/x?endpoint=http://127.0.0.1:${portOf(store)}`;

  const rows = ['nats', 's3'].flatMap((kind) =>
    places.flatMap((log) =>
      places.flatMap((token) =>
        (['inside', 'outside'] as const).map((file) => ({ kind, log, token, file })),
      ),
    ),
  );
  /** A project, and the environment of who starts it. */
  const made = ({ kind, log, token, file }: (typeof rows)[number]) => {
    const project = makeFolder();
    const tokenFile = join(file === 'inside' ? project : makeFolder(), 'token');
    writeFileSync(tokenFile, 'id:secret', { mode: 0o600 });
    const variables: Record<Place, Record<string, string>> = { environment: {}, '.env': {} };
    variables[log].TRELLIS_CLUSTER_LOG = urlOf(kind);
    variables[token].TRELLIS_CLUSTER_TOKEN_FILE = tokenFile;
    variables.environment.TRELLIS_CLUSTER_NAME = 'x';
    const lines = Object.entries(variables['.env']).map(([name, value]) => `${name}="${value}"\n`);
    writeProject(project, { sources: { 'a.hx': schema, '.env': lines.join('') } });
    return { project, env: variables.environment };
  };

  test.each(rows)('$kind: address in $log, credential in $token, a file $file', (row) => {
    const { project, env } = made(row);
    const config = loadConfig({ projectDir: project, flags: new Map(), environment: env });
    const look = (): void => checkProjectPaths(config);
    const { log, token, file } = row;
    if (log === token && (token === 'environment' || file === 'inside')) look();
    else expect(look).toThrowError(/cluster\.(log is said|token_file is)/);
  });

  test.each(['nats', 's3'])(
    '%s: a server that a project names receives no request',
    async (kind) => {
      connections = 0;
      const { project, env } = made({ kind, log: '.env', token: 'environment', file: 'outside' });
      const done = await runCli(['serve', project], { env });
      expect([done.code, connections]).toEqual([78, 0]);
      expect(done.stderr).toMatch(/CONFIG_INVALID: cluster\.log is said/);
    },
  );

  test('a project names no driver of its own', async () => {
    const project = makeFolder();
    const driver = join(project, 'driver.mjs');
    writeProject(project, {
      sources: { 'a.hx': schema, 'driver.mjs': 'console.log("RAN"); export const driver = {};' },
      config: { 'cluster.log': `file://${driver}`, 'cluster.name': 'x' },
    });
    const done = await runCli(['serve', project]);
    expect(done.code).toBe(78);
    expect(done.stdout + done.stderr).toMatch(/names a driver of its own/);
    expect(done.stdout).not.toContain('RAN');
  });
});
