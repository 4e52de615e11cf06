// The interface of a transport. It turns sockets into exchanges, enforces framing, sizes and timeouts, and
// sends answers. Two transports exist: uws-transport.ts (uWebSockets.js) and node-transport.ts (Node's own).
// All other code uses only this interface. What each transport must do, and where:
//
//   duty                                        uWebSockets.js            node:http
//   keep the known headers, drop the others     request-headers.ts        the same
//   refuse invalid framing (BAD_FRAMING)        framing.ts                framing.ts, headFault, refuseRaw
//   bound the number and size of headers        the library               maxHeaderSize, maxHeadersCount
//   bound connections, in all and by address    filter, SeenConnections   connection, CountedConnections
//   refuse a body above body_bytes              readBody, take            onRequest, take
//   end a body that takes too long              dropSlowSenders           requestTimeout
//   bound buffered bodies and answers           SlowClientPolicy          the same
//   keep a connection while its call runs       pause of the socket       allowHalfOpen
//   notice a client that disconnects            onAborted                 close of the response
//   read the body before a last answer          LingeringClose            the same
//   refuse a pipelined request                  the library ends the      the library queues it
//                                               connection
//   renew the certificate                       no: after a restart        setSecureContext
import { networkInterfaces } from 'node:os';
import type { ErrorData } from '../../engine/internal.js';
import type { Exchange } from './exchange.js';

/**
 * Receives the requests of a transport. The transport catches every exception of these methods and passes it
 * to `fail`.
 */
export interface Receiver {
  /** The head has arrived and its framing is valid. Sends the answer, or returns true to receive the body. */
  open(exchange: Exchange): boolean;
  /** The whole body has arrived. The receiver owns the bytes. */
  complete(exchange: Exchange, body: Uint8Array): void;
  /** The transport refuses the request. The answer closes the connection. */
  refuse(exchange: Exchange, error: ErrorData): void;
  /** `open` or `complete` threw. */
  fail(exchange: Exchange, error: unknown): void;
  /** The client disconnected before its answer. */
  disconnected(exchange: Exchange): void;
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
  /** Port of the thread that listens, for a thread that receives its connections from there. */
  port?: number;
  /** Milliseconds after which an idle connection is closed. */
  idleMs: number;
  tls?: { cert: string; key: string };
  /**
   * Counters of this transport, and their sums over all threads. Absent: the transport has its own counters.
   */
  counts?: TransportCounts;
  total?: (name: keyof TransportCounts) => number;
  /**
   * Shared memory of byte-shares.ts and the row of this transport. Absent: the transport has its own memory.
   */
  shares?: { buffer: SharedArrayBuffer; row: number };
  /** Whether the connections from the listening thread come through a Unix socket. */
  onSocket?: boolean;
}

/** Counters that the transport writes and /metrics reads. */
export interface TransportCounts {
  connections: number;
  aborted: number;
  connectionsRefused: number;
  /** Connections refused because their address already had its share. */
  sharesRefused: number;
  receiveTimeouts: number;
  bodiesTooLarge: number;
  bufferedBodyBytes: number;
  bufferedResponseBytes: number;
  nonReadersClosed: number;
  /** Connections closed because a request arrived before the previous one was answered. */
  pipelinedClosed: number;
}

export interface Transport {
  readonly name: 'uws' | 'node';
  readonly counts: TransportCounts;
  /**
   * Binds all addresses to one port (0: any free port) and returns the port. Fails PORT_IN_USE and
   * LISTEN_FAILED.
   */
  listen(addresses: readonly string[], port: number): Promise<number>;
  /** Accepts no new connections; open connections stay open. */
  stopListening(): void;
  /** Closes every connection. */
  close(): void;
  /** Reads certificate and key again. Returns false if the transport cannot do so, or has no TLS. */
  renewTls(): boolean;
}

/** A transport that can share its ports with those of other threads. */
export interface SharedListener extends Transport {
  readonly onSocket: boolean;
  /** The port on which the transport listens; 0 for a Unix socket. */
  readonly port: number;
  /** Identifies this transport to other threads. */
  readonly descriptor: number;
  /** Starts to give the transport of this descriptor its share of the connections; `dealNoMore` stops it. */
  distributeTo(descriptor: number): void;
  stopDistributing(descriptor: number): void;
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

/** Runs code for a request and passes an exception to the receiver. */
export function guarded(receiver: Receiver, exchange: Exchange, work: () => void): void {
  try {
    work();
  } catch (error) {
    receiver.fail(exchange, error);
  }
}

export function machineHasIpv6Loopback(): boolean {
  return Object.values(networkInterfaces()).some((list) =>
    list?.some((entry) => entry.address === '::1'),
  );
}
