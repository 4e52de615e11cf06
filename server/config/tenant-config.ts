// Derives the configuration for the database of one tenant: a separate folder, and threads and memory that
// leave enough for the others. Invariant: data, backups and the log of a tenant never share a location with
// another database.
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
    // The ballast file of the main database serves all of them.
    storage: { ...storage, ballast: 0 },
    backup: { dir: backup.dir === '' ? '' : join(backup.dir, tenant) },
    cluster: { ...cluster, name: cluster.name === '' ? tenant : `${cluster.name}-${tenant}` },
  };
}

type PlacedShard = NonNullable<Config['shard']>;

/** Returns all shards of all scattered types. */
export function shardsOf({ scatter }: Config): PlacedShard[] {
  return [...scatter].flatMap(([type, of]) =>
    Array.from({ length: of }, (_, at) => ({ type, at, of })),
  );
}

/** Returns the part of the project's program that a database has. */
export function programFor({ shard, scatter, tenant }: Config, program: Program): Program {
  if (shard !== undefined) return shardProgram(program, shard.type);
  return tenant === '' && scatter.size > 0
    ? mainProgram(program, new Set(scatter.keys()))
    : program;
}

/** Maximum number of tenant databases that may be open at the same time. */
export function maxOpen({ databases, cluster, scatter, tenants }: Config): number {
  const shards = [...scatter.values()].reduce((sum, count) => sum + count, 0);
  const all = databases.size - shards;
  return shards + (cluster.log === '' ? Math.min(tenants.max_open, all) : all);
}

/** Whether a tenant is listed in the configuration. Others were added to the server. */
export const isConfiguredTenant = ({ settings }: Config, name: string): boolean =>
  settings.has(`tenants.databases.${name}`);
