// Connects to the servers of a JetStream log: addresses, credentials, TLS.
// Invariant: the content of the credentials file is passed to the client and never printed.
import { readFileSync, statSync } from 'node:fs';
import {
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node';
import { fail } from '../../base/errors.js';
import { rootsOf } from './log-address.js';
import type { LogAddress } from './replicated-log.js';

export interface NatsAddress {
  servers: string[];
  /** Number of servers that store the log. */
  replicas: number;
  /** Monitoring addresses of the servers: their `http` ports. */
  monitors: string[];
  encrypted: boolean;
}

const connectMs = 10_000;

/** Parses `nats://a:4222,b:4222?replicas=3&monitor=http://a:8222,…`. Fails CONFIG_INVALID. */
export function natsAddress(url: string): NatsAddress {
  const match = /^(nats|tls):\/\/([^?]+?)\/?(?:\?(.*))?$/.exec(url);
  const options = new URLSearchParams(match?.[3] ?? '');
  const replicas = Number(options.get('replicas') ?? 3);
  const unknown = [...options.keys()].find((key) => key !== 'replicas' && key !== 'monitor');
  const servers = match?.[2]?.split(',').map((server) => server.replace(/^\w+:\/\//, '')) ?? [];
  if (servers.length === 0 || unknown !== undefined || ![1, 3, 5].includes(replicas))
    fail('CONFIG_INVALID', {
      what: '`cluster.log` must be `nats://host:port,…`, and may end in `?replicas=1|3|5&monitor=http://…`',
    });
  return {
    servers,
    replicas,
    monitors: options.get('monitor')?.split(',') ?? [],
    encrypted: match![1] === 'tls',
  };
}

/** Reads a file of NATS credentials, `user:password`, or a token. */
function credentials(tokenFile: string): NodeConnectionOptions {
  const bytes = readFileSync(tokenFile);
  if ((statSync(tokenFile).mode & 0o077) !== 0)
    fail('CONFIG_INVALID', { what: '`cluster.token_file` may be read by others; make it 0600' });
  const text = bytes.toString('utf8').trim();
  if (text.includes('BEGIN NATS USER JWT')) return { authenticator: credsAuthenticator(bytes) };
  const [user, ...pass] = text.split(':');
  // The client would treat an empty credential as none, and connect without authentication.
  if (user === '' || (pass.length > 0 && pass.join(':') === ''))
    fail('CONFIG_INVALID', { what: '`cluster.token_file` is empty, or names a user alone' });
  return pass.length === 0 ? { token: text } : { user, pass: pass.join(':') };
}

/** Opens a connection that reconnects forever. Fails LOG_UNAVAILABLE when the first connection fails. */
export async function connectNats(address: LogAddress): Promise<NatsConnection> {
  const { servers, encrypted } = natsAddress(address.url);
  const { cert, key } = address.tls ?? {};
  const isTls = encrypted || address.tls !== undefined;
  const ca = isTls ? rootsOf(address) : undefined;
  const options: NodeConnectionOptions = {
    servers,
    name: `trellisdb ${address.name}`,
    // Do not wait for a server that is lost: another one has the log too.
    timeout: connectMs / 2,
    pingInterval: 2_000,
    maxPingOut: 2,
    reconnectTimeWait: 250,
    maxReconnectAttempts: -1,
    // The servers may advertise addresses that this machine cannot reach.
    ignoreClusterUpdates: true,
    // Otherwise, every append creates an error in advance, for the sake of its stack.
    noAsyncTraces: true,
    ...(address.tokenFile === undefined ? {} : credentials(address.tokenFile)),
    ...(isTls ? { tls: { caFile: ca, certFile: cert, keyFile: key } } : {}),
  };
  try {
    return await connect(options);
  } catch (error) {
    return fail('LOG_UNAVAILABLE', { what: (error as Error).message });
  }
}
