// What the configuration says of this process's place in a cluster, as the engine takes it. Invariant:
// without `cluster.log` there is none, and nothing of a cluster is loaded.
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { type ClusterOptions, fail } from '../../engine/internal.js';
import { readSecrets } from '../cluster/node-secrets.js';
import { isLoopback } from '../http/address.js';
import type { Config } from './config.js';
import { checkLogGuard } from './log-guard.js';

/** Where the other nodes reach this one. */
export const addressOf = ({ cluster, server }: Pick<Config, 'cluster' | 'server'>): string =>
  cluster.advertise_address || `${server.host}:${server.port}`;

/** Undefined: a process of its own. Fails CONFIG_INVALID. */
export function clusterOptions(config: Config): ClusterOptions | undefined {
  const { cluster, projectDir } = config;
  if (cluster.log === '') return undefined;
  const node = cluster.node || hostname();
  const advertise = addressOf(config);
  if (cluster.secret_file === '' && !isLoopback(hostOf(advertise))) {
    const hint = 'The same file on all nodes, 0600, such as `openssl rand -hex 32` makes it.';
    const what = `A node at ${advertise} needs \`cluster.secret_file\`.`;
    fail('CONFIG_INVALID', { what }, { hint });
  }
  checkLogGuard(config);
  const secrets = secretsIn(config);
  const tls = tlsOf(config);
  return {
    log: cluster.log,
    ...(cluster.name !== '' && { name: cluster.name }),
    node,
    advertise,
    role: cluster.role,
    leaseMs: cluster.lease,
    appendTimeoutMs: cluster.append_timeout,
    waitMs: cluster.wait_timeout,
    maxLagMs: cluster.max_lag,
    keepMs: cluster.log_retention,
    keepBytes: cluster.log_retention_bytes,
    schemaBytes: cluster.schema_bytes,
    ...(secrets && { secrets }),
    skipVectors: [...cluster.skip_vectors],
    ...(cluster.token_file !== '' && { tokenFile: resolve(projectDir, cluster.token_file) }),
    ...(tls && { tls }),
  };
}

/** What all nodes know and nobody else, oldest first; undefined where they share nothing. Fails CONFIG_INVALID. */
export function secretsIn({ cluster, projectDir }: Config): string[] | undefined {
  const { secret_file: file } = cluster;
  return file === '' ? undefined : readSecrets(resolve(projectDir, file));
}

const hostOf = (address: string): string => address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');

/** Files for connections to the log and to other nodes; undefined for none. */
function tlsOf({ cluster, projectDir }: Config): ClusterOptions['tls'] {
  const { tls_ca: ca, tls_cert: cert, tls_key: key } = cluster;
  const given = Object.entries({ ca, cert, key }).filter(([, path]) => path !== '');
  if (given.length === 0) return undefined;
  const named = ([name, path]: [string, string]): [string, string] => [
    name,
    name === 'ca' && path === 'system' ? path : resolve(projectDir, path),
  ];
  return Object.fromEntries(given.map(named));
}
