// Implements the transport on uWebSockets.js; only uws-exchange.ts also uses the library. Three rules apply:
// the abort handler is set first, no exception leaves a handler, and ports are exclusive. Each of several
// threads may have a transport. Then one thread listens and distributes the connections in turn, itself
// included, so that all threads have equally many. Invariant: a closed transport receives no connection.
import { printAddress } from './address.js';
import { ByteShares } from './byte-shares.js';
import { SeenConnections } from './connection-share.js';
import { type Exchange, hasBody } from './exchange.js';
import { declaredLength, framingError } from './framing.js';
import {
  clearSocket,
  failListening,
  openSocketTo,
  probeListening,
  removeSocket,
  socketPathOf,
} from './listen-socket.js';
import { SlowClientPolicy } from './share-room.js';
import { SoleAddress } from './sole-address.js';
import {
  type SharedListener,
  type TransportCounts,
  type TransportOptions,
  freshCounts,
} from './transport.js';
import type {
  ListenSocket,
  UwsAddOn,
  UwsApp,
  UwsRequest,
  UwsResponse,
} from './native/uws-add-on.js';
import { UwsExchange, type UwsTransportState } from './uws-exchange.js';
import { suites12 } from './tls-suites.js';

const sweepMs = 250;

class UwsTransport implements SharedListener, UwsTransportState {
  readonly name = 'uws';
  onSocket: boolean;
  #socketAddress: string | undefined;
  readonly counts: TransportCounts;
  readonly receiving = new Set<UwsExchange>();
  readonly unread = new Set<UwsExchange>();
  readonly watched = new Set<UwsExchange>();
  readonly #app: UwsApp;
  readonly #sockets: ListenSocket[] = [];
  readonly #sweep: NodeJS.Timeout;
  readonly #seen: SeenConnections;
  readonly soleAddress = new SoleAddress();
  readonly shares: ByteShares;
  readonly slowClients = new SlowClientPolicy(this);
  port: number;
  #turn = 0;
  #turnEnd: NodeJS.Immediate | undefined;

  constructor(
    private readonly uws: UwsAddOn,
    readonly options: TransportOptions,
  ) {
    const { tls, counts = freshCounts(), onSocket = false, port = 0 } = options;
    this.port = port;
    const { connections_per_address: ofOne } = options.limits;
    this.#seen = new SeenConnections(ofOne, () => this.port);
    this.shares = new ByteShares(options);
    this.counts = counts;
    this.onSocket = onSocket;
    this.#app = tls
      ? uws.SSLApp({ cert_file_name: tls.cert, key_file_name: tls.key, ssl_ciphers: suites12 })
      : uws.App();
    this.#app.filter((response, change) => this.#countConnection(response, Number(change)));
    this.#app.any('/*', (response, request) => {
      this.#onRequest(response, request);
    });
    this.#sweep = setInterval(() => {
      this.#dropSlowSenders();
      // When all threads together hold too many bytes, this thread may have those of a caller above its
      // share.
      this.slowClients.refuseBodies();
      this.slowClients.closeNonReaders();
      for (const exchange of this.watched) exchange.renew();
    }, sweepMs);
    this.#sweep.unref();
  }

  /** Number of the current turn of the event loop. One timer serves all calls in a turn. */
  turn(): number {
    this.#turnEnd ??= setImmediate(() => {
      this.#turnEnd = undefined;
      this.#turn++;
    });
    return this.#turn;
  }

  #countConnection(response: UwsResponse, change: number): void {
    const { counts, options } = this;
    counts.connections += change < 0 ? -1 : 1;
    if (change < 0) {
      this.soleAddress.closed();
      return;
    }
    this.soleAddress.opened(addressOf);
    const total = this.total('connections');
    if (total > options.limits.connections) counts.connectionsRefused++;
    else if (this.onSocket || this.#seen.admits(addressOf, total, performance.now())) return;
    else counts.sharesRefused++;
    response.close();

    function addressOf(): string {
      return printAddress(new Uint8Array(response.getRemoteAddress()));
    }
  }

  #onRequest(response: UwsResponse, request: UwsRequest): void {
    const exchange = new UwsExchange(response, this);
    response.onAborted(() => exchange.aborted());
    const { receiver } = this.options;
    exchange.within(() => {
      readHead(exchange, request);
      const framing = framingError(exchange);
      if (framing !== undefined) {
        receiver.refuse(exchange, { code: 'BAD_FRAMING', args: { what: framing } });
        return;
      }
      exchange.bodyDue = hasBody(exchange);
      if (receiver.open(exchange) && !exchange.settled) this.#readBody(exchange);
      if (!exchange.bodyDue || !exchange.listens) return;
      response.onData((chunk, last) => {
        if (exchange.listens) exchange.within(() => exchange.take(chunk, last));
      });
    });
  }

  #readBody(exchange: UwsExchange): void {
    const { receiver, limits } = this.options;
    const refusal = this.shares.refusalOfCall(exchange);
    if (refusal !== undefined) receiver.refuse(exchange, refusal);
    else if (!exchange.bodyDue) receiver.complete(exchange, emptyBody);
    else if (declaredLength(exchange) > limits.body_bytes) {
      this.counts.bodiesTooLarge++;
      receiver.refuse(exchange, { code: 'BODY_TOO_LARGE', args: { max: limits.body_bytes } });
    } else exchange.expectBody();
  }

  #dropSlowSenders(): void {
    const latest = performance.now() - this.options.limits.receive_time;
    for (const exchange of this.receiving) {
      if (exchange.startedAt > latest) continue;
      this.counts.receiveTimeouts++;
      exchange.drop();
    }
  }

  total(name: keyof TransportCounts): number {
    return this.options.total?.(name) ?? this.counts[name];
  }

  async listen(addresses: readonly string[], port: number): Promise<number> {
    if (socketPathOf(addresses[0]!) !== undefined) return this.#listenOnSocket(addresses[0]!);
    for (let attempt = 0; ; attempt++) {
      const bound = this.#bindAll(addresses, port);
      if (typeof bound === 'number') {
        this.port = bound;
        return bound;
      }
      const errno = await probeListening({ host: bound.refused, port: bound.port });
      // A free port of the first address may be taken on the second address: try another port. If the probe
      // succeeds, the port was taken only for a moment.
      const again = (port === 0 && errno === 'EADDRINUSE') || errno === undefined;
      if (!again || attempt === 16) failListening(bound.refused, bound.port, errno ?? 'EADDRINUSE');
    }
  }

  async #listenOnSocket(address: string): Promise<number> {
    await clearSocket(address);
    let bound = false;
    const path = socketPathOf(address)!;
    this.#app.listen_unix((socket) => {
      if (!socket) return;
      bound = true;
      this.#sockets.push(socket);
    }, path);
    if (!bound) failListening(address, 0, await probeListening({ path }));
    openSocketTo(address);
    this.onSocket = true;
    this.#socketAddress = address;
    return 0;
  }

  #bindAll(addresses: readonly string[], port: number): number | { refused: string; port: number } {
    for (const address of addresses) {
      const socket = this.#bind(address, port);
      if (socket === undefined) {
        this.stopListening();
        return { refused: address, port };
      }
      this.#sockets.push(socket);
      port = this.uws.us_socket_local_port(socket);
    }
    return port;
  }

  #bind(address: string, port: number): ListenSocket | undefined {
    let socket: ListenSocket | false = false;
    this.#app.listen(address, port, exclusivePort, (result) => {
      socket = result;
    });
    return socket === false ? undefined : socket;
  }

  get descriptor(): number {
    return this.#app.getDescriptor();
  }

  distributeTo(descriptor: number): void {
    this.#app.addChildAppDescriptor(descriptor);
  }

  stopDistributing(descriptor: number): void {
    this.#app.removeChildAppDescriptor(descriptor);
  }

  stopListening(): void {
    for (const socket of this.#sockets) this.uws.us_listen_socket_close(socket);
    this.#sockets.length = 0;
    if (this.#socketAddress !== undefined) removeSocket(this.#socketAddress);
    this.#socketAddress = undefined;
  }

  close(): void {
    clearInterval(this.#sweep);
    this.#sockets.length = 0;
    if (this.#socketAddress !== undefined) removeSocket(this.#socketAddress);
    this.#app.close();
  }

  renewTls(): boolean {
    return false;
  }
}

/** Value of LIBUS_LISTEN_EXCLUSIVE_PORT in uSockets. */
const exclusivePort = 1;
const emptyBody = new Uint8Array(0);

function readHead(exchange: Exchange, request: UwsRequest): void {
  exchange.startedAt = performance.now();
  exchange.method = request.getCaseSensitiveMethod();
  exchange.path = request.getUrl();
  exchange.query = request.getQuery() ?? '';
  request.forEach((name, value) => {
    exchange.keepHeader(name, value);
  });
}

export function openUwsTransport(addOn: UwsAddOn, options: TransportOptions): SharedListener {
  return new UwsTransport(addOn, options);
}
