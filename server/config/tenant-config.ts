// The configuration as it is for the database of one tenant: a folder of its own, threads and memory that
// leave room for the others. Invariant: nothing that is written by name, data, backups, a log, is a place
// of another database.
import { join } from 'node:path';
import { type Program, fail, mainProgram, shardProgram } from '../../engine/internal.js';
import { type Config, shardName } from './config.js';

/** Fails TENANT_UNKNOWN. */
export function tenantConfig(config: Config, tenant: string): Config {
  const { databases, cluster, backup, server, storage, tenants } = config;
  const dataDir = databases.get(tenant);
  if (dataDir === undefined) return fail('TENANT_UNKNOWN', { tenant });
  const shard = shardsOf(config).find(({ type, at }) => shardName(type, at) === tenant);
  return {
    ...config,
    tenant,
    ...(shard && { shard }),
    dataDir,
    server: { ...server, workers: tenants.workers },
    // The one of the main database is given up for all.
    storage: { ...storage, ballast: 0 },
    backup: { dir: backup.dir === '' ? '' : join(backup.dir, tenant) },
    cluster: { ...cluster, name: cluster.name === '' ? tenant : `${cluster.name}-${tenant}` },
  };
}

type PlacedShard = NonNullable<Config['shard']>;

/** All there are. */
export function shardsOf({ scatter }: Config): PlacedShard[] {
  return [...scatter].flatMap(([type, of]) =>
    Array.from({ length: of }, (_, at) => ({ type, at, of })),
  );
}

/** What of the project's program the database of a configuration has. */
export function programFor({ shard, scatter, tenant }: Config, program: Program): Program {
  if (shard !== undefined) return shardProgram(program, shard.type);
  return tenant === '' && scatter.size > 0
    ? mainProgram(program, new Set(scatter.keys()))
    : program;
}

/** Databases of tenants that may be open at once. */
export function openMost({ databases, cluster, scatter, tenants }: Config): number {
  const shards = [...scatter.values()].reduce((sum, count) => sum + count, 0);
  const all = databases.size - shards;
  return shards + (cluster.log === '' ? Math.min(tenants.max_open, all) : all);
}

/** Whether a tenant is listed in the configuration. Others were added to the server. */
export const isConfiguredTenant = ({ settings }: Config, name: string): boolean =>
  settings.has(`tenants.databases.${name}`);
