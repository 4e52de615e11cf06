// The driver of logs in NATS JetStream: one stream per log.
// Invariant: only `create` creates a stream. A stream that was deleted, or whose configuration may drop
// messages, is never used.
import { randomBytes } from 'node:crypto';
import {
  DiscardPolicy,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { fail } from '../../base/errors.js';
import { refusalOf } from './jetstream-code.js';
import { connectNats, natsAddress } from './jetstream-connect.js';
import { JetStreamLog, messageBytes } from './jetstream-log.js';
import { checkSyncSettings } from './jetstream-safety.js';
import { LossDetector } from './loss-detector.js';
import type { LogDriver, LogAddress } from './replicated-log.js';

const streamOf = ({ name }: LogAddress): string => `TRELLIS_${name}`;
const requestTimeoutMs = 5_000;
const againMs = 500;

const managerOf = (connection: NatsConnection): Promise<JetStreamManager> =>
  jetstreamManager(connection, { timeout: requestTimeoutMs, checkAPI: false });

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Returns the configuration of the stream, or undefined when the servers report that it does not exist. Fails
 * LOG_UNAVAILABLE.
 */
async function configOf(
  manager: JetStreamManager,
  address: LogAddress,
): Promise<StreamConfig | undefined> {
  try {
    return (await manager.streams.info(streamOf(address))).config;
  } catch (error) {
    if (refusalOf(error) === 'no stream') return undefined;
    return fail('LOG_UNAVAILABLE', { what: (error as Error).message });
  }
}

/** Returns the configuration of a stream, without its subject. */
const formOf = (address: LogAddress) => ({
  retention: RetentionPolicy.Limits,
  storage: StorageType.File,
  num_replicas: natsAddress(address.url).replicas,
  discard: DiscardPolicy.New,
  deny_delete: true,
  deny_purge: false,
  allow_direct: false,
  max_msgs: -1,
  max_age: 0,
  max_bytes: 2 * address.keepBytes,
  max_msg_size: messageBytes,
  duplicate_window: nanos(120_000),
});

/** Fails LOG_UNSAFE for a stream that may drop acknowledged messages. */
function checkForm(config: StreamConfig, address: LogAddress): void {
  const wanted = formOf(address);
  const fixed = ['retention', 'storage', 'discard', 'deny_delete', 'allow_direct'] as const;
  const limits = ['max_msgs', 'max_age'] as const;
  const wrong =
    fixed.find((key) => (config[key] ?? false) !== wanted[key]) ??
    limits.find((key) => (config[key] ?? 0) > 0) ??
    (config.num_replicas < wanted.num_replicas ? 'num_replicas' : undefined) ??
    (config.max_msg_size !== undefined &&
    config.max_msg_size > 0 &&
    config.max_msg_size < messageBytes
      ? 'max_msg_size'
      : undefined);
  if (wrong !== undefined)
    fail('LOG_UNSAFE', { what: `the stream ${streamOf(address)} has ${wrong} ${config[wrong]}` });
}

export const driver: LogDriver = {
  async open(address) {
    const connection = await connectNats(address);
    try {
      const manager = await managerOf(connection);
      const lossDetector = new LossDetector();
      let config = await configOf(manager, address);
      while (config === undefined) {
        lossDetector.observe(
          `there is no stream ${streamOf(address)}; \`trellis cluster init\` makes it`,
        );
        await wait(againMs);
        config = await configOf(manager, address);
      }
      checkForm(config, address);
      const subject = config.subjects[0]!;
      const client = jetstream(connection, { timeout: requestTimeoutMs });
      // The limit of the servers includes headers.
      const max = Math.min(messageBytes, connection.info?.max_payload ?? messageBytes) - 1024;
      const name = { stream: streamOf(address), subject };
      return new JetStreamLog(connection, client, manager, name, max);
    } catch (error) {
      await connection.close();
      throw error;
    }
  },

  async create(address) {
    const { replicas, monitors } = natsAddress(address.url);
    const connection = await connectNats(address);
    try {
      const manager = await managerOf(connection);
      if ((await configOf(manager, address)) !== undefined)
        fail('CONFIG_INVALID', { what: `the stream ${streamOf(address)} exists already` });
      const { durable, note } = await checkSyncSettings(connection, monitors, replicas);
      if (address.allowLazy !== true && durable !== true) fail('LOG_UNSAFE', { what: note });
      if (address.allowLazy !== true && replicas < 3)
        fail('LOG_UNSAFE', { what: `${replicas} server holds it` });
      // The random subject belongs to this creation of the stream. If the stream is re-created, a node that
      // knows the old subject cannot append to the new stream.
      const subject = `trellis.${address.name}.${randomBytes(8).toString('hex')}`;
      await manager.streams
        .add({ name: streamOf(address), subjects: [subject], ...formOf(address) })
        .catch((error: Error) => fail('LOG_UNAVAILABLE', { what: error.message }));
    } finally {
      await connection.close();
    }
  },

  async look(address) {
    const { replicas, monitors } = natsAddress(address.url);
    const connection = await connectNats(address);
    try {
      const exists = (await configOf(await managerOf(connection), address)) !== undefined;
      return { exists, ...(await checkSyncSettings(connection, monitors, replicas)) };
    } finally {
      await connection.close();
    }
  },
};
