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
import type { LogDriver, LogPlace } from './replicated-log.js';

const streamOf = ({ name }: LogPlace): string => `TRELLIS_${name}`;
const askMs = 5_000;
const againMs = 500;

const managerOf = (connection: NatsConnection): Promise<JetStreamManager> =>
  jetstreamManager(connection, { timeout: askMs, checkAPI: false });

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Returns the configuration of the stream, or undefined when the servers report that it does not exist. Fails
 * LOG_UNAVAILABLE.
 */
async function configOf(
  manager: JetStreamManager,
  place: LogPlace,
): Promise<StreamConfig | undefined> {
  try {
    return (await manager.streams.info(streamOf(place))).config;
  } catch (error) {
    if (refusalOf(error) === 'no stream') return undefined;
    return fail('LOG_UNAVAILABLE', { what: (error as Error).message });
  }
}

/** Returns the configuration of a stream, without its subject. */
const formOf = (place: LogPlace) => ({
  retention: RetentionPolicy.Limits,
  storage: StorageType.File,
  num_replicas: natsAddress(place.url).replicas,
  discard: DiscardPolicy.New,
  deny_delete: true,
  deny_purge: false,
  allow_direct: false,
  max_msgs: -1,
  max_age: 0,
  max_bytes: 2 * place.keepBytes,
  max_msg_size: messageBytes,
  duplicate_window: nanos(120_000),
});

/** Fails LOG_UNSAFE for a stream that may drop acknowledged messages. */
function checkForm(config: StreamConfig, place: LogPlace): void {
  const wanted = formOf(place);
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
    fail('LOG_UNSAFE', { what: `the stream ${streamOf(place)} has ${wrong} ${config[wrong]}` });
}

export const driver: LogDriver = {
  async open(place) {
    const connection = await connectNats(place);
    try {
      const manager = await managerOf(connection);
      const patience = new LossDetector();
      let config = await configOf(manager, place);
      while (config === undefined) {
        patience.heard(`there is no stream ${streamOf(place)}; \`trellis cluster init\` makes it`);
        await wait(againMs);
        config = await configOf(manager, place);
      }
      checkForm(config, place);
      const subject = config.subjects[0]!;
      const client = jetstream(connection, { timeout: askMs });
      // The limit of the servers includes headers.
      const most = Math.min(messageBytes, connection.info?.max_payload ?? messageBytes) - 1024;
      const name = { stream: streamOf(place), subject };
      return new JetStreamLog(connection, client, manager, name, most);
    } catch (error) {
      await connection.close();
      throw error;
    }
  },

  async create(place) {
    const { replicas, monitors } = natsAddress(place.url);
    const connection = await connectNats(place);
    try {
      const manager = await managerOf(connection);
      if ((await configOf(manager, place)) !== undefined)
        fail('CONFIG_INVALID', { what: `the stream ${streamOf(place)} exists already` });
      const { durable, note } = await checkSyncSettings(connection, monitors, replicas);
      if (place.allowLazy !== true && durable !== true) fail('LOG_UNSAFE', { what: note });
      if (place.allowLazy !== true && replicas < 3)
        fail('LOG_UNSAFE', { what: `${replicas} server holds it` });
      // The random subject belongs to this creation of the stream. If the stream is re-created, a node that
      // knows the old subject cannot append to the new stream.
      const subject = `trellis.${place.name}.${randomBytes(8).toString('hex')}`;
      await manager.streams
        .add({ name: streamOf(place), subjects: [subject], ...formOf(place) })
        .catch((error: Error) => fail('LOG_UNAVAILABLE', { what: error.message }));
    } finally {
      await connection.close();
    }
  },

  async look(place) {
    const { replicas, monitors } = natsAddress(place.url);
    const connection = await connectNats(place);
    try {
      const exists = (await configOf(await managerOf(connection), place)) !== undefined;
      return { exists, ...(await checkSyncSettings(connection, monitors, replicas)) };
    } finally {
      await connection.close();
    }
  },
};
