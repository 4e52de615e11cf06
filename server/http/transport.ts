// What a transport is: it turns sockets into exchanges, enforces framing, sizes and times, and
// sends answers. Two exist: http.ts (uWebSockets.js) and node-transport.ts (Node's own); everything
// above sees only this file.
import { networkInterfaces } from 'node:os';
import type { ErrorData } from '../../engine/internal.js';
import type { Exchange } from './exchange.js';

/**
 * Who is told about requests. A transport never lets an exception of these pass it: it hands it to
 * `fault`.
 */
export interface Receiver {
  /** The head is in and its framing is sound. Answers, or returns true to be given the body. */
  open(exchange: Exchange): boolean;
  /** The whole body is in; the bytes are the receiver's. */
  complete(exchange: Exchange, body: Uint8Array): void;
  /** The transport refuses; the answer closes the connection. */
  refuse(exchange: Exchange, error: ErrorData): void;
  /** `open` or `complete` threw. */
  fault(exchange: Exchange, error: unknown): void;
  /** The client went away before its answer. */
  gone(exchange: Exchange): void;
}

export interface TransportOptions {
  receiver: Receiver;
  limits: {
    body_bytes: number;
    buffered_body_bytes: number;
    buffered_response_bytes: number;
    header_bytes: number;
    receive_time: number;
    connections: number;
    connections_per_address: number;
  };
  /** Of a thread that is dealt connections: where they come to. */
  port?: number;
  /** Milliseconds an idle connection may live. */
  idleMs: number;
  tls?: { cert: string; key: string };
  /** Where this transport counts, and the sums over all threads that have one; its own if absent. */
  counts?: TransportCounts;
  total?: (name: keyof TransportCounts) => number;
  /** Where it counts what each caller holds (byte-shares.ts), likewise. */
  shares?: { buffer: SharedArrayBuffer; row: number };
  /** Whether the connections that it is dealt come through a socket in the file system. */
  onSocket?: boolean;
}

/** Counted by the transport, read by /metrics. */
export interface TransportCounts {
  connections: number;
  aborted: number;
  connectionsRefused: number;
  /** Likewise, of addresses that had their share. */
  sharesRefused: number;
  receiveTimeouts: number;
  bodiesTooLarge: number;
  bufferedBodyBytes: number;
  bufferedResponseBytes: number;
  nonReadersClosed: number;
  /** Connections ended because a request came behind one whose answer was to come. */
  pipelinedClosed: number;
}

export interface Transport {
  readonly name: 'uws' | 'node';
  readonly counts: TransportCounts;
  /** Binds all addresses to one port (0 = any free one) and gives the port. Fails PORT_IN_USE. */
  listen(addresses: readonly string[], port: number): Promise<number>;
  /** No new connections; open ones go on. */
  stopListening(): void;
  /** Ends every connection. */
  close(): void;
  /** Reads certificate and key again, where the transport can. */
  renewTls(): boolean;
}

/** A transport that can share its ports with those of other threads. */
export interface SharedListener extends Transport {
  readonly onSocket: boolean;
  /** The package of its add-on, which was looked at before it was loaded: other threads load no other. */
  readonly addOn: string;
  /** Where it listens. */
  readonly port: number;
  /** What it is known by on other threads. */
  readonly descriptor: number;
  /** The transport of this descriptor gets its share of the connections, until it gets no more. */
  distributeTo(descriptor: number): void;
  dealNoMore(descriptor: number): void;
}

export function freshCounts(): TransportCounts {
  return {
    connections: 0,
    aborted: 0,
    connectionsRefused: 0,
    sharesRefused: 0,
    receiveTimeouts: 0,
    bodiesTooLarge: 0,
    bufferedBodyBytes: 0,
    bufferedResponseBytes: 0,
    nonReadersClosed: 0,
    pipelinedClosed: 0,
  };
}

/** Runs what a request brings about, which may throw. */
export function guarded(receiver: Receiver, exchange: Exchange, work: () => void): void {
  try {
    work();
  } catch (error) {
    receiver.fault(exchange, error);
  }
}

export function machineHasIpv6Loopback(): boolean {
  return Object.values(networkInterfaces()).some((list) =>
    list?.some((entry) => entry.address === '::1'),
  );
}
