// Merges the configuration from layers, from defaults up to flags: one value and one source per key. This is
// the only file that reads the environment of the process.
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Limits, type ShardIndex, fail, nearestName } from '../../engine/internal.js';
import { type ConfigValues, type VectorTypeConfig, keySchemas, schemaOf } from './config-schema.js';
import { readValue } from './config-value.js';
import { type HelixConfig, ignoredNote, readHelixJson, readHelixToml } from './helix-config.js';
import { socketPathOf } from '../http/listen-socket.js';
import { readProjectFile } from '../folder/project-file.js';
import { providerSettings } from './provider-source.js';
import { defaultIn, indexBytes, memoryBytes, readersIn } from './memory.js';
import type { Environment, Setting } from './setting.js';
import { currentKey, renamedKeys, renamedNote } from './renamed-keys.js';
import { readTenantFile, tenantFolder } from './tenant-file.js';
import { flatten, parseJsonTable, parseToml } from './toml.js';

export type { Environment };

export interface Config extends Omit<ConfigValues, 'limits'> {
  limits: Limits;
  vectorTypes: Record<string, VectorTypeConfig>;
  /** Put before each text, by what it is for. */
  embeddingPrefixes: { query?: string; document?: string };
  projectDir: string;
  /** Absolute path. */
  dataDir: string;
  /** Folders of the tenant databases, by name. */
  databases: ReadonlyMap<string, string>;
  /** Vector types that are divided over several databases, with the number of databases. */
  scatter: ReadonlyMap<string, number>;
  /** Set for a database that holds a shard of such a type. */
  shard?: ShardIndex & { type: string };
  /** Tenant of the database; empty for the main one. */
  tenant: string;
  keysFile: string;
  /** Directory of further sources, relative to the project. */
  queriesDir: string;
  /** Credentials and base URLs of embedding providers, by variable name. */
  environment: Environment;
  /** Reasons why configured credentials are not used, by variable name. */
  withheld: Readonly<Record<string, string>>;
  failpoint: string | undefined;
  /** Every key that has a value. */
  settings: ReadonlyMap<string, Setting>;
  /** Lines of level info for the log at start. */
  notes: string[];
  /** One line of level warn for each former key name that a source uses. */
  renamed: string[];
}

export interface ConfigRequest {
  projectDir: string;
  /** Values of flags by configuration key. */
  flags: ReadonlyMap<string, string>;
  instance?: string;
  environment: Environment;
}

/** The environment of the process. */
export const processEnvironment: Environment = process.env;

/**
 * Sets the maximum size of a header block for uWebSockets.js, which reads the variable only when it is
 * loaded.
 */
export function announceHeaderBytes(bytes: number): void {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(bytes);
}

interface Layer {
  source: (key: string) => string;
  values: Map<string, unknown>;
  /** Whether the layer is a file of the project. */
  fromProject: boolean;
}

/** Reads and checks the whole configuration. Fails CONFIG_INVALID. */
export function loadConfig(request: ConfigRequest): Config {
  const projectDir = resolve(request.projectDir);
  const notes: string[] = [];
  const own = readIn(projectDir, 'trellis.toml');
  const helix = readHelixFiles(projectDir, request.instance, notes);
  const dotEnv = readDotEnv(projectDir);
  const { environment } = request;
  const layers: Layer[] = [
    ...helix.layers,
    fileLayer('trellis.toml', own === undefined ? {} : parseToml(own, 'trellis.toml')),
    environmentLayer(helixVariables, dotEnv, true),
    environmentLayer(trellisVariables(dotEnv), dotEnv, true),
    environmentLayer(helixVariables, environment, false),
    environmentLayer(trellisVariables(environment), environment, false),
    {
      source: (key) => `flag --${key.split('.').at(-1)!.replaceAll('_', '-')}`,
      values: new Map(request.flags),
      fromProject: false,
    },
  ];
  const renamed: string[] = [];
  const settings = mergeLayers(layers, renamed);
  const usesHelix = own === undefined && helix.layers.length > 0;
  if (usesHelix && settings.get('compat')!.source === 'default') {
    settings.set('compat', { value: 'helix-2', source: 'default beside HelixDB configuration' });
  }
  const providers = providerSettings(environment, dotEnv);
  for (const [name, setting] of providers.settings) settings.set(name, setting);
  return {
    ...assemble(settings, projectDir, notes),
    renamed,
    queriesDir: helix.queries,
    environment: providers.environment,
    withheld: providers.withheld,
    failpoint: environment.TRELLIS_FAILPOINT,
  };
}

const readIn = (projectDir: string, name: string): string | undefined =>
  readProjectFile(projectDir, join(projectDir, name), name);

function readHelixFiles(
  projectDir: string,
  instance: string | undefined,
  notes: string[],
): { layers: Layer[]; queries: string } {
  const layers: Layer[] = [];
  let queries = 'db';
  const add = (name: string, config: HelixConfig): void => {
    layers.push({ source: () => name, values: config.values, fromProject: true });
    queries = config.queries ?? queries;
    const note = ignoredNote(name, config);
    if (note !== undefined) notes.push(note);
  };
  const json = readIn(projectDir, 'config.hx.json');
  if (json !== undefined) {
    add('config.hx.json', readHelixJson(parseJsonTable(json, 'config.hx.json')));
  }
  const toml = readIn(projectDir, 'helix.toml');
  if (toml !== undefined) add('helix.toml', readHelixToml(parseToml(toml, 'helix.toml'), instance));
  return { layers, queries };
}

function fileLayer(name: string, table: Record<string, unknown>): Layer {
  const values = flatten(table, (key) => schemaOf(currentKey(key)) !== undefined);
  return { source: () => name, values, fromProject: true };
}

/** Reads `.env` as Node does: comments, `export`, quotes, values of several lines. */
function readDotEnv(projectDir: string): Environment {
  const text = readIn(projectDir, '.env') ?? '';
  // A byte-order mark is no part of the first name, and a tab before a comment is no part of the value.
  const variables = Object.entries(parseEnv(text.replace(/^\uFEFF/, '')));
  return Object.fromEntries(variables.map(([name, value]) => [name, value!.trim()]));
}

/** Configuration key of each variable of HelixDB. */
const helixVariables = new Map([
  ['HELIX_PORT', 'server.port'],
  ['HELIX_DATA_DIR', 'storage.data_dir'],
  ['HELIX_API_KEY', 'auth.api_key'],
  ['HELIX_CORES_OVERRIDE', 'server.workers'],
]);

const shortForms = new Map([
  ['TRELLIS_HOST', 'server.host'],
  ['TRELLIS_PORT', 'server.port'],
  ['TRELLIS_DATA_DIR', 'storage.data_dir'],
  ['TRELLIS_API_KEY', 'auth.api_key'],
  ['TRELLIS_COMPAT', 'compat'],
]);

const sections = new Set([...keySchemas.keys()].map((key) => key.split('.')[0]!));

/**
 * Returns the key of each `TRELLIS_<SECTION>_<KEY>` that is set. Fails CONFIG_INVALID for an unknown key of a
 * known section.
 */
function trellisVariables(environment: Environment): Map<string, string> {
  const known = new Map(shortForms);
  for (const key of [...renamedKeys.keys(), ...keySchemas.keys()]) {
    if (key.includes('.')) known.set(`TRELLIS_${key.replace('.', '_').toUpperCase()}`, key);
  }
  for (const name of Object.keys(environment)) {
    const section = /^TRELLIS_([A-Z]+)_/.exec(name)?.[1]?.toLowerCase();
    if (section === undefined || known.has(name) || !sections.has(section)) continue;
    const current = [...known].filter(([, key]) => !renamedKeys.has(key)).map(([one]) => one);
    failUnknown(name, `environment ${name}`, current);
  }
  return known;
}

function environmentLayer(
  variables: ReadonlyMap<string, string>,
  environment: Environment,
  fromProject: boolean,
): Layer {
  const values = new Map<string, unknown>();
  const names = new Map<string, string>();
  for (const [name, key] of variables) {
    const text = environment[name];
    const isSet = text !== '' || keySchemas.get(currentKey(key))!.filled === true;
    if (text === undefined || !isSet) continue;
    // HelixDB's own files are never opened: TrellisDB uses a directory next to them.
    const directory = name === 'HELIX_DATA_DIR' ? join(text, 'trellis') : text;
    values.set(key, key === 'storage.data_dir' ? resolve(directory) : text);
    names.set(key, name);
  }
  const prefix = fromProject ? '.env ' : '';
  return { source: (key) => `environment ${prefix}${names.get(key)}`, values, fromProject };
}

function failUnknown(key: string, source: string, known: Iterable<string>): never {
  const near = nearestName(key, known);
  const what = `${key} is not a configuration key (${source}).`;
  const hint = near === undefined ? 'See `trellis config print`.' : `Did you mean \`${near}\`?`;
  return fail('CONFIG_INVALID', { what }, { hint });
}

/** Merges the layers; later ones win. All values are checked, including those that lose. */
function mergeLayers(layers: readonly Layer[], renamed: string[]): Map<string, Setting> {
  const settings = new Map<string, Setting>();
  const memory = memoryBytes();
  for (const [key, schema] of keySchemas) {
    const { default: defaultValue } = schema;
    const value =
      typeof defaultValue === 'number' ? defaultIn(memory, key, defaultValue) : defaultValue;
    settings.set(key, { value, source: 'default' });
  }
  for (const { source, values, fromProject } of layers) {
    for (const [written, raw] of values) {
      const key = currentKey(written);
      if (key !== written) {
        renamed.push(renamedNote(written, key, source(written)));
        // The current name wins over a former name in the same source.
        if (values.has(key)) continue;
      }
      const schema = schemaOf(key);
      if (schema === undefined) return failUnknown(key, source(key), keySchemas.keys());
      const value = readValue(key, schema, raw, source(written));
      settings.set(key, { value, source: source(written), ...(fromProject && { fromProject }) });
    }
  }
  return settings;
}

function assemble(
  settings: Map<string, Setting>,
  projectDir: string,
  notes: string[],
): Omit<Config, 'queriesDir' | 'environment' | 'withheld' | 'failpoint' | 'renamed'> {
  const cores = availableParallelism();
  // At least two readers. With a single reader that searches vectors, the second of two processors stood idle
  // (3.2K of 3.9K searches a second).
  const memory = memoryBytes();
  const readers = Math.max(2, Math.min(readersIn(memory), cores - 1));
  replaceZero(settings, 'server.workers', readers);
  replaceZero(settings, 'server.http_threads', Math.max(1, Math.min(64, Math.floor(cores / 2))));
  replaceZero(settings, 'vectors.memory_bytes', indexBytes(memory));
  const nested: Record<string, Record<string, unknown>> = {};
  const vectorTypes: Record<string, Record<string, unknown>> = Object.create(null);
  const prefixes: Record<string, string> = {};
  const folders = new Map<string, string>();
  const scatter = new Map<string, number>();
  for (const [key, { value }] of settings) {
    const [section, name, deep] = key.split('.');
    if (section === 'sharding' && deep !== undefined) scatter.set(deep, value as number);
    else if (section === 'tenants' && deep !== undefined) folders.set(deep, value as string);
    else if (section === 'embedding' && deep !== undefined) prefixes[deep] = value as string;
    else if (deep !== undefined) (vectorTypes[name!] ??= {})[deep] = value;
    else if (name !== undefined) (nested[section!] ??= {})[name] = value;
  }
  const values = { ...nested, compat: settings.get('compat')!.value } as ConfigValues;
  const socket = socketPathOf(values.server.host);
  if (socket !== undefined) values.server.host = `unix:${resolve(projectDir, socket)}`;
  for (const type of scatter.keys()) checkDimension(type, vectorTypes[type]);
  const dataDir = resolve(projectDir, values.storage.data_dir || join('.trellis', 'data'));
  for (const name of readTenantFile(dataDir)) if (!folders.has(name)) folders.set(name, '');
  return {
    ...values,
    limits: values.limits as Limits,
    vectorTypes: vectorTypes as Record<string, VectorTypeConfig>,
    embeddingPrefixes: prefixes,
    projectDir,
    dataDir,
    databases: tenantFolders(withShards(folders, scatter, dataDir), projectDir, dataDir),
    scatter,
    tenant: '',
    keysFile: resolve(projectDir, values.auth.keys_file || join(dataDir, 'keys.json')),
    settings,
    notes,
  };
}

/**
 * Fails without configured dimensions. The first vector of a database would fix them, and each shard has its
 * own first vector.
 */
function checkDimension(type: string, config: Record<string, unknown> | undefined): void {
  if (config?.dimensions !== undefined) return;
  const what = `sharding.types.${type} needs vectors.${type}.dimensions: all shards have the same.`;
  fail('CONFIG_INVALID', { what }, { hint: 'Say how many numbers its vectors have.' });
}

/** Adds the databases of the shards, which are like those of tenants. */
function withShards(
  folders: ReadonlyMap<string, string>,
  scatter: ReadonlyMap<string, number>,
  dataDir: string,
): ReadonlyMap<string, string> {
  const all = new Map(folders);
  for (const [type, count] of scatter) {
    for (let at = 0; at < count; at++) {
      const name = shardName(type, at);
      if (all.has(name)) {
        fail('CONFIG_INVALID', { what: `sharding.types.${type}: there is a database ${name}.` });
      }
      all.set(name, join(dataDir, 'shards', name));
    }
  }
  return all;
}

export const shardName = (type: string, at: number): string => `${type.toLowerCase()}-${at}`;

/** Returns a separate folder for each tenant. Two databases in one folder would be one. */
function tenantFolders(
  folders: ReadonlyMap<string, string>,
  projectDir: string,
  dataDir: string,
): ReadonlyMap<string, string> {
  const taken = new Map([[dataDir, 'storage.data_dir']]);
  const databases = new Map<string, string>();
  for (const [name, folder] of folders) {
    const path = folder === '' ? tenantFolder(dataDir, name) : resolve(projectDir, folder);
    const other = taken.get(path);
    const key = `tenants.databases.${name}`;
    if (other !== undefined) fail('CONFIG_INVALID', { what: `${key} is the folder of ${other}.` });
    taken.set(path, key);
    databases.set(name, path);
  }
  return databases;
}

function replaceZero(settings: Map<string, Setting>, key: string, value: number): void {
  if (settings.get(key)!.value === 0) settings.set(key, { value, source: 'default' });
}
