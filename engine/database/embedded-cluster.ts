// Creates the replicated log of a database for programs that embed the engine. It takes the options of `open`
// instead of a compiled program.
import { throwAtCaller } from './attach/throw-at-caller.js';
import type { ClusterPosition } from '../cluster/node.js';
import { createCluster as createLog } from './create-cluster.js';
import { compileOrFail } from './embedded.js';
import { type OpenOptions, completeOptions } from './embedded-options.js';

/** `cluster` is required here. */
type ClusterOpenOptions = OpenOptions & { cluster: NonNullable<OpenOptions['cluster']> };

interface CreateClusterOptions {
  /** Accepts a log that may lose entries that it has acknowledged. */
  allowLazy?: boolean;
  /** Creates another log for data whose log is lost. */
  again?: boolean;
}

/**
 * Creates the replicated log of a database, once, and resolves with its first position. `dataDir` must not be
 * open. Every other node begins with a copy of `dataDir`, as `backUp` makes it. Fails CONFIG_INVALID if the
 * data already belong to a cluster, LOG_UNSAFE, LOG_UNAVAILABLE.
 *
 * @example
 * const cluster = { log: 'nats://a:4222', node: 'a', advertise: 'http://a:6969' };
 * await createCluster({ dataDir: './data', sources, cluster });
 * const db = await open({ dataDir: './data', sources, cluster });
 */
export async function createCluster(
  options: ClusterOpenOptions,
  { allowLazy = false, again = false }: CreateClusterOptions = {},
): Promise<ClusterPosition> {
  try {
    const { cluster, ...complete } = completeOptions(options);
    const program = compileOrFail(options, complete.limits);
    const archive = { compat: options.compat === 'helix-2', sources: options.sources };
    return await createLog({ ...complete, cluster: cluster!, program }, archive, {
      allowLazy,
      again,
    });
  } catch (error) {
    return throwAtCaller(error, createCluster);
  }
}

/**
 * The earlier name of `createCluster`.
 *
 * @deprecated Use `createCluster(options)`, whose options hold the sources.
 * @example
 * await foundCluster({ dataDir: './data', sources, cluster });
 */
export const foundCluster = createCluster;
