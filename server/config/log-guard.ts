// Checks the access to a log on another machine: it needs credentials, and TLS with a configured authority.
// Invariant: a node neither writes nor follows a log that any machine of the network could write to. Only
// `cluster.insecure` allows that.
import { fail } from '../../engine/internal.js';
import { isLoopback } from '../http/address.js';
import type { Config } from './config.js';

export interface LogPath {
  /** Hosts of all servers of the log; empty if only the driver of the log knows them. */
  hosts: string[];
  isTls: boolean;
}

const hostIn = (address: string): string =>
  address
    .replace(/^.*@/, '')
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '');

/** Returns the hosts and the protocol of a log, as its address says. */
export function pathOf(log: string): LogPath {
  const [, scheme = '', rest = ''] = /^([a-z0-9]+):\/\/(.*)$/.exec(log) ?? [];
  const [hosts = '', query = ''] = rest.split('?');
  if (scheme === 'nats' || scheme === 'tls') {
    const servers = hosts.split(',').map((one) => one.replace(/^\w+:\/\//, ''));
    return {
      hosts: servers.map((one) => hostIn(one.replace(/\/.*$/, ''))),
      isTls: scheme === 'tls',
    };
  }
  if (scheme !== 's3') return { hosts: [], isTls: false };
  const endpoint = new URLSearchParams(query).get('endpoint') ?? 'https://s3.amazonaws.com';
  if (!URL.canParse(endpoint)) return { hosts: [], isTls: false };
  const { hostname, protocol } = new URL(endpoint);
  return { hosts: [hostIn(hostname)], isTls: protocol === 'https:' };
}

/** Fails CONFIG_INVALID. */
export function checkLogGuard({ cluster }: Config): void {
  const { log, token_file, tls_ca, tls_cert, tls_key, insecure } = cluster;
  const path = pathOf(log);
  const isS3 = log.startsWith('s3:');
  const isTls =
    path.isTls || (!isS3 && path.hosts.length > 0 && tls_ca + tls_cert + tls_key !== '');
  if (isTls && tls_ca === '') {
    const what = 'TLS to the log needs `cluster.tls_ca`.';
    const hint =
      'Set the CA file that verifies its servers, or "system" for the authorities that Node trusts.';
    fail('CONFIG_INVALID', { what }, { hint });
  }
  const far = path.hosts.find((host) => !isLoopback(host));
  if (far === undefined || insecure) return;
  const missing = [
    ...(token_file === '' && tls_cert === '' ? ['credentials'] : []),
    ...(isTls ? [] : ['TLS']),
  ];
  if (missing.length === 0) return;
  const what = `The log at ${far} is on another machine, and is asked without ${missing.join(' and ')}.`;
  const tls = isS3 ? '`endpoint=https://…`' : '`tls://…`';
  const hint = `Set \`cluster.token_file\`, and ${tls} with \`cluster.tls_ca\`; or \`cluster.insecure = true\` where nobody else can reach it.`;
  fail('CONFIG_INVALID', { what }, { hint });
}
