// Configuration: which source wins, what each key takes, what is refused and how it is said
// (operations.md 2).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrellisError, defaultLimits } from '../../../engine/internal.js';
import { type Config, type Environment, loadConfig } from '../../../server/config/config.js';
import { type KeySchema, keySchemas } from '../../../server/config/config-schema.js';
import { renamedKeys } from '../../../server/config/renamed-keys.js';
import { printConfig } from '../../../server/config/secrets.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trellis-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Input {
  files?: Record<string, string>;
  flags?: Record<string, string>;
  environment?: Environment;
  instance?: string;
}

function load({ files = {}, flags = {}, environment = {}, instance }: Input): Config {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return loadConfig({
    projectDir: folder,
    flags: new Map(Object.entries(flags)),
    environment,
    ...(instance === undefined ? {} : { instance }),
  });
}

function refusal(input: Input): string {
  try {
    load(input);
  } catch (error) {
    if (error instanceof TrellisError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('which source wins', () => {
  const files = {
    '.env': 'TRELLIS_PORT=4\nHELIX_PORT=3\n',
    'trellis.toml': '[server]\nport = 5\n',
    'helix.toml': '[local.dev]\nport = 6\n',
    'config.hx.json': '{"port": 7}',
  };
  // Each step takes away the source that has just won.
  const steps: [string, Input, number][] = [
    [
      'flag',
      { files, flags: { 'server.port': '1' }, environment: { TRELLIS_PORT: '2', HELIX_PORT: '3' } },
      1,
    ],
    ['TRELLIS_*', { files, environment: { TRELLIS_PORT: '2', HELIX_PORT: '3' } }, 2],
    ['HELIX_*', { files, environment: { HELIX_PORT: '3' } }, 3],
    ['.env', { files }, 4],
    ['trellis.toml', { files: { ...files, '.env': '' } }, 5],
    ['helix.toml', { files: { ...files, '.env': '', 'trellis.toml': '' } }, 6],
    ['config.hx.json', { files: { 'config.hx.json': files['config.hx.json'] } }, 7],
    ['default', {}, 6969],
  ];
  it.each(steps)('%s', (_, input, port) => {
    expect(load(input).server.port).toBe(port);
  });

  it('names the source', () => {
    const { settings } = load({ files, flags: { 'server.host': 'localhost' } });
    expect(settings.get('server.host')).toEqual({ value: 'localhost', source: 'flag --host' });
    expect(settings.get('server.port')!.source).toBe('environment .env TRELLIS_PORT');
    expect(settings.get('log.level')!.source).toBe('default');
  });
});

describe('values', () => {
  it('has the documented defaults', () => {
    const config = load({});
    expect(config.limits).toEqual(defaultLimits);
    expect(config.server).toMatchObject({
      host: '127.0.0.1',
      idle_time: 120_000,
      drain_time: 10_000,
      worker_heap: 2 ** 30,
      explorer: true,
      watch: true,
    });
    expect(config.server.workers).toBeGreaterThanOrEqual(1);
    expect(config.vectors).toMatchObject({
      metric: 'cosine',
      m: 16,
      ef_construction: 128,
      ef_search: 128,
    });
    expect(config.snapshot).toEqual({ interval: 300_000, after_writes: 50_000, keep: 2 });
    expect(config.embedding).toMatchObject({ timeout: 30_000, retries: 3, cache_entries: 1_024 });
    expect(config.storage).toMatchObject({
      min_free: 2 ** 30,
      ballast: 64 * 2 ** 20,
      read_only: false,
    });
    expect(config.compat).toBe('trellis');
    expect(config.dataDir).toBe(join(folder, '.trellis', 'data'));
    expect(config.keysFile).toBe(join(config.dataDir, 'keys.json'));
  });

  it.each([
    ['5s', 5_000],
    ['250ms', 250],
    ['2m', 120_000],
    ['1h', 'refused'],
    ['7', 7],
    ['1.5s', 1_500],
    ['5 s', 5_000],
    ['5 parsecs', 'refused'],
    ['-5s', 'refused'],
    ['0', 'refused'],
  ])('time %s', (text, expected) => {
    const input = { environment: { TRELLIS_LIMITS_QUERY_TIME: text } };
    if (expected === 'refused')
      expect(refusal(input)).toMatch(/CONFIG_INVALID limits\.query_time must be a time/);
    else expect(load(input).limits.query_time).toBe(expected);
  });

  it.each([
    ['"16MiB"', 16 * 2 ** 20],
    ['"1 GiB"', 'refused'],
    ['1024', 1_024],
    ['"2KiB"', 2_048],
    ['"2KB"', 'refused'],
    ['-1', 'refused'],
    ['true', 'refused'],
  ])('size %s', (text, expected) => {
    const input = { files: { 'trellis.toml': `[limits]\nbody_bytes = ${text}\n` } };
    if (expected === 'refused')
      expect(refusal(input)).toMatch(/CONFIG_INVALID limits\.body_bytes must be a size/);
    else expect(load(input).limits.body_bytes).toBe(expected);
  });

  it('reads every key from its variable', () => {
    for (const key of keySchemas.keys()) {
      if (!key.includes('.')) continue;
      const name = `TRELLIS_${key.replace('.', '_').toUpperCase()}`;
      const message = refusal({ environment: { [name]: '\u0001' } });
      if (message !== 'accepted') expect(message).toContain(key);
    }
  });

  it('takes "auto" for what the machine says', () => {
    const { server } = load({ environment: { TRELLIS_SERVER_HTTP_THREADS: 'auto' } });
    expect(server.http_threads).toBe(load({}).server.http_threads);
    expect(
      load({ files: { 'trellis.toml': '[server]\nhttp_threads = 3' } }).server.http_threads,
    ).toBe(3);
  });

  it('reads per-type vector settings', () => {
    const text =
      '[vectors]\nm = 8\n[vectors.Emb]\nmetric = "l2"\ndimensions = 3\nlayout = "flat"\n';
    const config = load({ files: { 'trellis.toml': text } });
    expect(config.vectors.m).toBe(8);
    expect(config.vectorTypes).toEqual({ Emb: { metric: 'l2', dimensions: 3, layout: 'flat' } });
  });

  it('reads .env with quotes, comments and export', () => {
    const text = '# c\nexport TRELLIS_HOST="localhost"\n OPENAI_API_KEY = \'k 1\' \nnonsense\n';
    const config = load({ files: { '.env': text } });
    expect([config.server.host, config.environment.OPENAI_API_KEY]).toEqual(['localhost', 'k 1']);
  });
});

describe('.env', () => {
  const rows: [string, string][] = [
    ['TRELLIS_HOST=localhost # here', 'localhost'],
    ['TRELLIS_HOST=localhost\t# here', 'localhost'],
    ['TRELLIS_HOST="localhost" # here', 'localhost'],
    ["TRELLIS_HOST='localhost'#here", 'localhost'],
    ['# TRELLIS_HOST=other\nTRELLIS_HOST=localhost', 'localhost'],
    ['  export TRELLIS_HOST = localhost  \r\nX=1', 'localhost'],
    ['\uFEFFTRELLIS_HOST=localhost', 'localhost'],
    ['TRELLIS_HOST="a#b"', 'a#b'],
    ['NOTE="two\nTRELLIS_HOST=other\n"\nTRELLIS_HOST=localhost', 'localhost'],
    ['TRELLIS_HOST=', '127.0.0.1'],
    ['TRELLIS_HOST= # none', '127.0.0.1'],
    ['__proto__=1\nTRELLIS_HOST=localhost', 'localhost'],
  ];
  it.each(rows)('%j', (text, host) => {
    expect(load({ files: { '.env': text } }).server.host).toBe(host);
  });
});

describe('a secret that did not arrive', () => {
  const doors = [...keySchemas].filter(([, { filled }]) => filled).map(([key]) => key);
  const variableOf = (key: string): string => `TRELLIS_${key.replace('.', '_').toUpperCase()}`;
  const tomlOf = (key: string, value: string): string => {
    const [section, name] = key.split('.');
    return `[${section}]\n${name} = ${JSON.stringify(value)}\n`;
  };
  /** Everywhere that a value can stand. */
  const places: Record<string, (key: string, value: string) => Input> = {
    environment: (key, value) => ({ environment: { [variableOf(key)]: value } }),
    '.env': (key, value) => ({ files: { '.env': `${variableOf(key)}='${value}'\n` } }),
    'trellis.toml': (key, value) => ({ files: { 'trellis.toml': tomlOf(key, value) } }),
    flag: (key, value) => ({ flags: { [key]: value } }),
  };

  it('is one of these', () => {
    const secret = [...keySchemas].filter(([, schema]) => schema.secret).map(([key]) => key);
    expect(doors).toEqual(expect.arrayContaining([...secret, 'auth.keys_file', 'tls.key']));
    expect(doors.filter((key) => /(_file|^tls|tls_|api_key)/.test(key))).toHaveLength(9);
  });

  it.each(Object.entries(places))('is refused in %s, and named', (_, place) => {
    for (const key of doors) {
      for (const value of ['', ' ', '\t']) {
        expect(refusal(place(key, value)), key).toMatch(
          new RegExp(`^CONFIG_INVALID .*${key} is named, but empty \\(`),
        );
      }
      expect(refusal(place(key, 'x')), key).toBe('accepted');
    }
  });

  it.each([
    ['TRELLIS_API_KEY', ''],
    ['HELIX_API_KEY', ''],
    ['TRELLIS_API_KEY', '\n'],
  ])('is refused in %s=%j, also above a source that has it', (name, value) => {
    const files = { '.env': 'TRELLIS_API_KEY=a key\n' };
    expect(refusal({ files, environment: { [name]: value } })).toContain(name);
  });

  it('is refused with white space around it, which no header carries', () => {
    for (const value of ['a key\n', ' a key', 'a key\t']) {
      const told = refusal({ environment: { TRELLIS_API_KEY: value } });
      expect(told).toMatch(/auth\.api_key begins or ends with white space/);
      expect(told).not.toContain('a key');
    }
  });

  it('is none where nothing names it', () => {
    const config = load({});
    for (const key of doors) expect(config.settings.get(key)!.value, key).toBe('');
  });
});

describe('what is refused', () => {
  const toml = (text: string): Input => ({ files: { 'trellis.toml': text } });
  const rows: [string, Input, RegExp][] = [
    ['no TOML', toml('[server\nport = 1'), /trellis\.toml:1:\d+ is not TOML/],
    ['unknown key', toml('[server]\nprot = 1'), /server\.prot is not a configuration key/],
    ['unknown section', toml('[sever]\nport = 1'), /sever\.port/],
    [
      'unknown variable of a section',
      { environment: { TRELLIS_SERVER_PROT: '1' } },
      /TRELLIS_SERVER_PROT/,
    ],
    [
      'text for a number',
      toml('[server]\nport = "x"'),
      /server\.port must be an integer from 0 to 65535, got "x"/,
    ],
    ['a float', toml('[server]\nport = 1.5'), /server\.port/],
    ['port too large', { flags: { 'server.port': '65536' } }, /from 0 to 65535/],
    ['port negative', { flags: { 'server.port': '-1' } }, /from 0 to 65535/],
    [
      'workers 0',
      { flags: { 'server.workers': '0' } },
      /server\.workers must be an integer from 1 to 64/,
    ],
    [
      'http_threads many',
      { environment: { TRELLIS_SERVER_HTTP_THREADS: 'many' } },
      /server\.http_threads must be "auto" or an integer from 1 to 64, got "many"/,
    ],
    [
      'http_threads 0',
      { flags: { 'server.http_threads': '0' } },
      /"auto" or an integer from 1 to 64/,
    ],
    ['workers 10000', { flags: { 'server.workers': '10000' } }, /from 1 to 64/],
    ['workers -1', { flags: { 'server.workers': '-1' } }, /from 1 to 64/],
    ['workers 1.5', { flags: { 'server.workers': '1.5' } }, /from 1 to 64/],
    ['HELIX_CORES_OVERRIDE 0', { environment: { HELIX_CORES_OVERRIDE: '0' } }, /from 1 to 64/],
    ['unknown choice', toml('compat = "helix"'), /compat must be "trellis" or "helix-2"/],
    ['an empty table for a number', toml('[server]\nport = {}'), /server\.port must be an integer/],
    [
      'an empty table for a folder',
      toml('[tenants.databases]\nacme = {}'),
      /tenants\.databases\.acme must be a string/,
    ],
    ['a list for a text', toml('[server]\nhost = []'), /server\.host must be a string/],
    ['a text for a list', toml('[cors]\norigins = "x"'), /cors\.origins must be a list of strings/],
    [
      'limit above its maximum',
      toml('[limits]\njson_depth = 65'),
      /limits\.json_depth must be an integer from 1 to 64/,
    ],
    ['unknown vector key', toml('[vectors.Emb]\nmetrics = "l2"'), /vectors\.Emb\.metrics/],
    [
      'vector metric',
      toml('[vectors.Emb]\nmetric = "l1"'),
      /vectors\.Emb\.metric must be "cosine"/,
    ],
    ['no JSON', { files: { 'config.hx.json': '{' } }, /config\.hx\.json is not JSON/],
    ['JSON list', { files: { 'config.hx.json': '[]' } }, /no JSON object/],
    [
      'wrong type in helix.toml',
      { files: { 'helix.toml': '[local.dev]\nport = "x"' } },
      /server\.port.*helix\.toml/,
    ],
    [
      'unknown instance',
      { files: { 'helix.toml': '[local.dev]\nport = 1' }, instance: 'prod' },
      /--instance must be one of dev/,
    ],
    ['a bad secret, unsaid', { environment: { TRELLIS_SERVER_PORT: 'x' } }, /TRELLIS_SERVER_PORT/],
  ];
  it.each(rows)('%s', (_, input, message) => {
    expect(refusal(input)).toMatch(/^CONFIG_INVALID /);
    expect(refusal(input)).toMatch(message);
  });

  it('suggests the nearest key', () => {
    try {
      load(toml('[server]\nprot = 1'));
    } catch (error) {
      expect((error as TrellisError).data.hint).toBe('Did you mean `server.port`?');
    }
  });
});

describe('files of HelixDB', () => {
  const helix = `[project]
name = "p"
queries = "./src/"
[local.first]
port = 1
[local.dev]
port = 2
mcp = false
bm25 = false
build_mode = "release"
embedding_model = "local"
[local.dev.vector_config]
m = 8
ef_construction = 64
ef_search = 768
db_max_size_gb = 20
[cloud.x]
region = "r"
`;
  it('maps an instance', () => {
    const config = load({ files: { 'helix.toml': helix } });
    expect(config.compat).toBe('helix-2');
    expect(config.queriesDir).toBe('./src/');
    expect(config.server).toMatchObject({ port: 2, explorer: false });
    expect([config.sessions.enabled, config.text.enabled]).toEqual([false, false]);
    expect(config.embedding.model).toBe('local');
    expect(config.vectors).toMatchObject({ m: 8, ef_construction: 64, ef_search: 512 });
    expect(config.notes.join()).toMatch(/db_max_size_gb/);
  });
  it('chooses the instance', () => {
    expect(load({ files: { 'helix.toml': helix }, instance: 'first' }).server.port).toBe(1);
    const two = '[local.a]\nport = 3\n[local.b]\nport = 4\n';
    expect(load({ files: { 'helix.toml': two } }).server.port).toBe(3);
  });
  it('is not in compatibility mode next to its own file', () => {
    expect(load({ files: { 'helix.toml': helix, 'trellis.toml': '' } }).compat).toBe('trellis');
  });
  it('reads config.hx.json', () => {
    const text =
      '{"vector_config":{"m":4,"ef_search":9},"db_max_size_gb":1,"mcp":false,"bm25":true,' +
      '"embedding_model":null}';
    const config = load({ files: { 'config.hx.json': text } });
    expect(config.vectors).toMatchObject({ m: 4, ef_search: 9 });
    expect([config.sessions.enabled, config.compat]).toEqual([false, 'helix-2']);
  });
  it("puts data next to HelixDB's own", () => {
    mkdirSync(join(folder, 'helix'));
    const environment = { HELIX_DATA_DIR: join(folder, 'helix'), HELIX_CORES_OVERRIDE: '3' };
    const config = load({ environment });
    expect([config.dataDir, config.server.workers]).toEqual([join(folder, 'helix', 'trellis'), 3]);
  });
});

describe('printing', () => {
  it('hides secrets and names sources', () => {
    const environment = {
      TRELLIS_API_KEY: 'planted-secret-1',
      OPENAI_API_KEY: 'planted-secret-2',
      OPENAI_BASE_URL: 'http://x',
    };
    const text = printConfig(load({ environment }));
    expect(text).not.toContain('planted');
    expect(text).toContain('auth.api_key = ***  # environment TRELLIS_API_KEY');
    expect(text).toContain('OPENAI_API_KEY = ***  # environment');
    expect(text).toContain('OPENAI_BASE_URL = "http://x"  # environment');
    expect(text).toContain('server.port = 6969  # default');
  });
});

/** A text that the key takes and that is not its default. */
function otherValue({
  type,
  enum: options,
  default: standard,
  minimum,
  maximum,
}: KeySchema): string {
  if (options !== undefined) return options.at(-1)!;
  if (type === 'boolean') return String(standard === false);
  if (type === 'string') return 'other:1';
  return String(standard === maximum ? minimum : Math.min(maximum!, Number(standard) + 3));
}

describe('former names of keys', () => {
  const at = (config: Config, key: string): unknown => config.settings.get(key)!.value;
  const variable = (key: string): string => `TRELLIS_${key.replace('.', '_').toUpperCase()}`;

  it.each([...renamedKeys])('%s is %s, with one warning', (former, current) => {
    const schema = keySchemas.get(current)!;
    expect(keySchemas.has(former)).toBe(false);
    const text = otherValue(schema);
    const expected = load({ environment: { [variable(current)]: text } });
    expect(expected.renamed).toEqual([]);
    expect(at(expected, current)).not.toEqual(at(load({}), current));
    const [section, name] = former.split('.');
    const isText = schema.type === 'string' || schema.enum !== undefined;
    const files = { 'trellis.toml': `[${section}]\n${name} = ${isText ? `"${text}"` : text}\n` };
    const sources: [string, Input][] = [
      ['trellis.toml', { files }],
      [`environment ${variable(former)}`, { environment: { [variable(former)]: text } }],
      [
        `environment .env ${variable(former)}`,
        { files: { '.env': `${variable(former)}=${text}`, 'trellis.toml': '' } },
      ],
    ];
    for (const [source, input] of sources) {
      const config = load(input);
      rmSync(join(folder, '.env'), { force: true });
      rmSync(join(folder, 'trellis.toml'), { force: true });
      expect(at(config, current)).toEqual(at(expected, current));
      expect(config.settings.get(current)!.source).toBe(source);
      expect(config.renamed).toHaveLength(1);
      expect(config.renamed[0]).toContain(`${former} is now ${current} (${source})`);
      expect(printConfig(config)).not.toContain(`${former} =`);
    }
  });

  it('the former sections of tenants and of shards are read', () => {
    const text =
      '[cluster.databases]\nacme = "data"\nopen = ""\n' +
      '[cluster.scatter]\nP = 2\n[vectors.P]\ndimensions = 4\n';
    const config = load({ files: { 'trellis.toml': text } });
    expect(config.databases.get('acme')).toBe(join(folder, 'data'));
    expect(config.scatter.get('P')).toBe(2);
    expect([...config.databases.keys()]).toEqual(['acme', 'open', 'p-0', 'p-1']);
    expect(config.renamed).toEqual([
      expect.stringContaining(
        'cluster.databases.acme is now tenants.databases.acme (trellis.toml)',
      ),
      expect.stringContaining(
        'cluster.databases.open is now tenants.databases.open (trellis.toml)',
      ),
      expect.stringContaining('cluster.scatter.P is now sharding.types.P (trellis.toml)'),
    ]);
  });

  it('the current name wins over the former one in the same source, and a higher source over both', () => {
    const both = { 'trellis.toml': '[server]\nfronts = 2\nhttp_threads = 3\n' };
    expect(load({ files: both }).server.http_threads).toBe(3);
    const environment = { TRELLIS_SERVER_FRONTS: '5' };
    expect(load({ files: both, environment }).server.http_threads).toBe(5);
  });

  it('a wrong value names the current key and the source as written', () => {
    expect(refusal({ environment: { TRELLIS_SERVER_FRONTS: 'many' } })).toMatch(
      /server\.http_threads must be .* \(environment TRELLIS_SERVER_FRONTS\)/,
    );
  });
});
