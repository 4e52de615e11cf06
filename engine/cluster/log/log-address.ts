// Builds the address of a log from the cluster options.
// Invariant: a log without a configured name has the name of its database, which only the data hold.
import { fail } from '../../base/errors.js';
import type { ClusterOptions } from '../options.js';
import type { LogAddress } from './replicated-log.js';

/**
 * Returns the CA file that verifies the log servers over TLS, or undefined when the options name the
 * authorities that Node trusts. Fails CONFIG_INVALID when the options name neither.
 */
export function rootsOf({ tls }: Pick<LogAddress, 'tls'>): string | undefined {
  if (tls?.ca === undefined)
    return fail('CONFIG_INVALID', {
      what: 'TLS to the log needs a CA file that verifies its servers, or "system"',
    });
  return tls.ca === 'system' ? undefined : tls.ca;
}

/** `dbUuid` is undefined when there are no data yet. Fails CONFIG_INVALID. */
export function logAddressOf(cluster: ClusterOptions, dbUuid: string | undefined): LogAddress {
  const { log: url, keepBytes, tokenFile, tls } = cluster;
  const name = cluster.name ?? dbUuid;
  if (name === undefined)
    fail('CONFIG_INVALID', { what: 'A node without data needs `cluster.name`.' });
  return { url, name, keepBytes, ...(tokenFile && { tokenFile }), ...(tls && { tls }) };
}
