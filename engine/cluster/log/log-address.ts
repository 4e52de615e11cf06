// The place of a log as the options of a cluster name it. Invariant: without a name of its own a log has
// that of its database, which only data can tell.
import { fail } from '../../base/errors.js';
import type { ClusterOptions } from '../options.js';
import type { LogPlace } from './replicated-log.js';

/**
 * The file of who vouches for the servers of a log that is spoken to by TLS; undefined: whoever Node trusts, as
 * somebody has said. Fails CONFIG_INVALID where nobody has said anything.
 */
export function rootsOf({ tls }: Pick<LogPlace, 'tls'>): string | undefined {
  if (tls?.ca === undefined)
    return fail('CONFIG_INVALID', {
      what: 'TLS to the log needs a file of who vouches for its servers, or "system"',
    });
  return tls.ca === 'system' ? undefined : tls.ca;
}

/** `dbUuid`: undefined where there are no data yet. Fails CONFIG_INVALID. */
export function logPlaceOf(cluster: ClusterOptions, dbUuid: string | undefined): LogPlace {
  const { log: url, keepBytes, tokenFile, tls } = cluster;
  const name = cluster.name ?? dbUuid;
  if (name === undefined)
    fail('CONFIG_INVALID', { what: 'A node without data needs `cluster.name`.' });
  return { url, name, keepBytes, ...(tokenFile && { tokenFile }), ...(tls && { tls }) };
}
