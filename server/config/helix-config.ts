// Reads HelixDB's configuration files as TrellisDB keys: helix.toml with its instances, and config.hx.json.
import { excerpt, fail } from '../../engine/internal.js';
import { isTable, type Table } from './toml.js';

export interface HelixConfig {
  /** TrellisDB keys with the values from the file. */
  values: Map<string, unknown>;
  /** Directory of further sources, as written. */
  queries?: string;
  /** Members that are read and have no effect. */
  ignored: string[];
}

const efSearchMax = 512;
const withoutEffect = new Set([
  'db_max_size_gb',
  'graphvis_node_label',
  'secondary_indices',
  'container_runtime',
]);

/** Reads the members that instances and config.hx.json share. */
function readMembers(members: Table, owner: string, config: HelixConfig): void {
  const { values } = config;
  for (const [name, value] of Object.entries(members)) {
    switch (name) {
      case 'port':
        values.set('server.port', value);
        break;
      case 'mcp':
        values.set('sessions.enabled', value);
        break;
      case 'bm25':
        values.set('text.enabled', value);
        break;
      case 'embedding_model':
        if (value !== null) values.set('embedding.model', value);
        break;
      case 'build_mode':
        if (value === 'release') values.set('server.explorer', false);
        break;
      case 'vector_config':
        readVectors(value, owner, config);
        break;
      default:
        config.ignored.push(`${owner}${name}`);
    }
  }
}

function readVectors(value: unknown, owner: string, { values, ignored }: HelixConfig): void {
  if (!isTable(value)) return;
  for (const [name, setting] of Object.entries(value)) {
    if (name === 'm' || name === 'ef_construction') values.set(`vectors.${name}`, setting);
    else if (name === 'ef_search') {
      const clamped = typeof setting === 'number' ? Math.min(setting, efSearchMax) : setting;
      values.set('vectors.ef_search', clamped);
    } else ignored.push(`${owner}vector_config.${name}`);
  }
}

/**
 * Returns the name of `--instance`, else the instance `dev`, else the first one. Fails CONFIG_INVALID for an
 * unknown name.
 */
function chooseInstance(instances: Table, wanted: string | undefined): string | undefined {
  const names = Object.keys(instances);
  if (wanted === undefined) return Object.hasOwn(instances, 'dev') ? 'dev' : names[0];
  if (Object.hasOwn(instances, wanted)) return wanted;
  const what = `--instance must be one of ${names.join(', ')}, got ${excerpt(wanted)}.`;
  return fail('CONFIG_INVALID', { what });
}

export function readHelixToml(file: Table, instance: string | undefined): HelixConfig {
  const config: HelixConfig = { values: new Map(), ignored: [] };
  for (const [name, value] of Object.entries(file)) {
    if (name === 'project' && isTable(value)) readProject(value, config);
    else if (name !== 'local') config.ignored.push(name);
  }
  const instances = isTable(file.local) ? file.local : {};
  const name = chooseInstance(instances, instance);
  const chosen = name === undefined ? undefined : instances[name];
  if (isTable(chosen)) readMembers(chosen, `local.${name}.`, config);
  return config;
}

function readProject(project: Table, config: HelixConfig): void {
  for (const [name, value] of Object.entries(project)) {
    if (name === 'queries' && typeof value === 'string') config.queries = value;
    else if (name !== 'name') config.ignored.push(`project.${name}`);
  }
}

export function readHelixJson(file: Table): HelixConfig {
  const config: HelixConfig = { values: new Map(), ignored: [] };
  readMembers(file, '', config);
  return config;
}

/** Returns a note about the members without effect, or undefined if there are none. */
export function ignoredNote(file: string, { ignored }: HelixConfig): string | undefined {
  if (ignored.length === 0) return undefined;
  const unknown = ignored.filter((name) => !withoutEffect.has(name.split('.').at(-1)!));
  const list = ignored.slice(0, 20).join(', ');
  return `${file}: without effect here: ${list}${unknown.length > 20 ? ', …' : ''}`;
}
