// Converts the `[cluster]` configuration into the options of the engine. Invariant: without `cluster.log`
// there are no options, and no cluster code is loaded.
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { type ClusterOptions, fail } from '../../engine/internal.js';
import { readSecrets } from '../cluster/node-secrets.js';
import { isLoopback } from '../http/address.js';
import type { Config } from './config.js';
import { checkLogGuard } from './log-guard.js';

/** Returns the address at which the other nodes reach this one. */
export const addressOf = ({ cluster, server }: Pick<Config, 'cluster' | 'server'>): string =>
  cluster.advertise_address || `${server.host}:${server.port}`;

/** Returns undefined outside a cluster. Fails CONFIG_INVALID. */
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

/**
 * Returns the shared secrets of the nodes, oldest first, or undefined without a secret file. Fails
 * CONFIG_INVALID.
 */
export function secretsIn({ cluster, projectDir }: Config): string[] | undefined {
  const { secret_file: file } = cluster;
  return file === '' ? undefined : readSecrets(resolve(projectDir, file));
}

const hostOf = (address: string): string => address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');

/** Returns the TLS files for connections to the log and to other nodes, or undefined for none. */
function tlsOf({ cluster, projectDir }: Config): ClusterOptions['tls'] {
  const { tls_ca: ca, tls_cert: cert, tls_key: key } = cluster;
  const paths = Object.entries({ ca, cert, key }).filter(([, path]) => path !== '');
  if (paths.length === 0) return undefined;
  const named = ([name, path]: [string, string]): [string, string] => [
    name,
    name === 'ca' && path === 'system' ? path : resolve(projectDir, path),
  ];
  return Object.fromEntries(paths.map(named));
}
