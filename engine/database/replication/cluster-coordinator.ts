// The main thread's side of a database in a cluster. It starts the node, knows the program of the data, and
// applies the program changes of the log one after another.
// Invariant: the current program is compiled from the sources in the data, whatever the project folder of
// this node contains.
import { createHash } from 'node:crypto';
import { TrellisError, toErrorData, errorMessage, fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import type { LogClientSetup } from '../../cluster/ipc/log-client.js';
import { leftPosition, readPosition } from '../../cluster/ipc/position.js';
import type { ClusterPosition } from '../../cluster/node.js';
import type { ClusterOptions, SourceArchive } from '../../cluster/options.js';
import { NodeHandle } from '../../cluster/role/node-handle.js';
import type { Program } from '../../plan/program.js';
import type { DataDirectory } from '../../storage/folder/manifest.js';
import type { Storage } from '../../storage/open-storage.js';
import { metaKey } from '../../storage/table/meta.js';
import type { DatabaseOptions } from '../call/options.js';
import { programCompiler } from '../schema/compiler.js';
import type { CheckMark, ClusterCommand } from './check-mark.js';
import { Comparison, type ComparisonOptions } from './comparison.js';
import { checkVectors, packSources, programBy, programOf } from './source-archive.js';

interface WriterClients {
  execute: (execute: ClusterCommand) => Promise<unknown>;
  /** See ComparisonWays. */
  read: ComparisonOptions['read'];
}

export class ClusterCoordinator {
  readonly node: NodeHandle;
  /** Program of the sources in the data. */
  readonly program: Program;

  constructor(
    cluster: ClusterOptions,
    private readonly storage: Storage,
    private readonly directory: DataDirectory,
    private readonly options: Pick<DatabaseOptions, 'limits' | 'log' | 'readOnly' | 'vectors'>,
  ) {
    if (options.readOnly) fail('CONFIG_INVALID', { what: 'A node of a cluster is not read-only.' });
    if (cluster.skipVectors?.length && cluster.role !== 'reader') {
      const hint = 'Another node may lead for all types only if it searches all.';
      fail('CONFIG_INVALID', { what: 'Only a reader skips vectors.' }, { hint });
    }
    const { leader } = readPosition(storage.position(), directory.restoreEpoch);
    const packed = storage.env.meta.get(metaKey.sources);
    if (packed === undefined) fail('LOG_LOST', { what: 'these data hold no sources' });
    checkVectors(packed, options.vectors);
    this.program = programOf(packed, options.limits);
    this.node = new NodeHandle(cluster, cluster.name ?? directory.dbUuid, options.log);
    this.node.begin(leader);
    this.use(packed);
    this.#cluster = cluster;
  }

  readonly #cluster: ClusterOptions;
  #comparison: Comparison | undefined;

  /** Connects the writer when it is ready. */
  attach({ execute, read }: WriterClients): void {
    const { env } = this.storage;
    const sendSettings = async (settings: Uint8Array) =>
      (await execute({ kind: 'tell', settings })) as ClusterPosition;
    this.#comparison = new Comparison({
      read,
      mark: async (mark, words) =>
        (await execute({ kind: 'mark', mark, words })) as ClusterPosition,
      pass: (words) => execute({ kind: 'pass', words }),
      clusterMetrics: this.node.clusterMetrics,
      onCompared: (result) => this.node.compared(result),
      onDiverged: (error) => this.node.fail(error),
    });
    const check = () => this.#comparison!.lead();
    const settings = (): Uint8Array | undefined => {
      env.refresh();
      return env.meta.get(metaKey.settings);
    };
    this.node.data = { sendSettings, check, settings };
  }

  /** Called when the log has this mark of a comparison at this position. */
  onMark(mark: CheckMark, position: ClusterPosition): void {
    this.#comparison?.onMark(mark, position).catch((error: unknown) => {
      const reason = errorMessage(toErrorData(error).error);
      this.options.log('warn', 'the tables were not compared', { reason });
    });
  }

  /** The program of these packed sources is now current. */
  use(packed: Uint8Array): void {
    this.node.program = createHash('sha256').update(packed).digest('hex').slice(0, 16);
  }

  /** Returns the setup for the writer, with a port to transfer. */
  logClientSetup({ txn_bytes }: Limits): LogClientSetup {
    return {
      port: this.node.writerPort,
      words: this.node.words.buffer,
      clusterMetrics: this.node.clusterMetrics.buffer,
      restoreEpoch: this.directory.restoreEpoch,
      appendTimeoutMs: this.#cluster.appendTimeoutMs,
      schemaBytes: this.#cluster.schemaBytes,
      entryBytes: Math.max(txn_bytes, entryBytesMin),
    };
  }

  /** A log entry waits for the program of these sources. Compiles them, then swaps the program in turn. */
  async applySources(packed: Uint8Array, swap: (program: Program) => Promise<void>): Promise<void> {
    try {
      const program = await programBy(packed, this.options.limits, (sources, rules) =>
        programCompiler.compile(sources, { ...rules, limits: this.options.limits }),
      );
      await swap(program);
      this.use(packed);
    } catch (error) {
      const { error: data } = toErrorData(error);
      // The writer asks again when there is space.
      if (data.code !== 'INSUFFICIENT_STORAGE') this.node.setFault(data);
    }
  }

  /**
   * Returns the packed sources of a reload, which only the leader may make. Fails NOT_LEADER, PARAM_MISSING.
   */
  sourcesOf(archive: SourceArchive | undefined): Uint8Array {
    const { refusal } = this.node;
    if (refusal !== undefined) throw new TrellisError(refusal);
    if (archive === undefined)
      fail('PARAM_MISSING', { owner: 'reload', param: 'archive', type: 'object' });
    return packSources(archive, this.options.vectors);
  }
}

/**
 * Detaches data that are opened without their cluster. They diverge from the log and belong to no log any
 * more.
 */
export function detachFromCluster({ env }: Storage): void {
  const left = leftPosition(env.meta.get(metaKey.position));
  if (left === undefined) return;
  env.transact(() => {
    env.meta.put(metaKey.position, left);
    return true;
  });
}

/** Minimum size of a group in bytes. It must allow at least one maximal request. */
const entryBytesMin = 64 * 1024 * 1024;
