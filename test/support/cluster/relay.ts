// A TCP proxy that a test can disturb, between a node and a log server or between two log servers. Invariant:
// forwarded bytes are unchanged and in order. Dropped bytes end the connection, so that no reader takes half
// a message for another one.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * pass: forward everything · cut: end connections and accept none · stall: forward nothing in either
 * direction, without an error · deaf: forward requests, but no responses.
 */
export type Wire = 'pass' | 'cut' | 'stall' | 'deaf';

export class Relay {
  #wire: Wire = 'pass';
  readonly #pairs = new Set<{ near: Socket; far: Socket }>();

  private constructor(
    private readonly server: Server,
    private readonly target: () => number,
  ) {
    server.on('connection', (near) => this.#accept(near));
  }

  /** Connects to the port that `target` returns at the time of a connection. */
  static async open(target: () => number): Promise<Relay> {
    const server = createServer({ pauseOnConnect: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Relay(server, target);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get wire(): Wire {
    return this.#wire;
  }

  set wire(wire: Wire) {
    const isSpoilt = this.#wire === 'deaf';
    this.#wire = wire;
    for (const { near, far } of this.#pairs) {
      if (wire === 'cut' || isSpoilt) near.destroy();
      else if (wire === 'stall') {
        near.pause();
        far.pause();
      } else {
        near.resume();
        far.resume();
      }
    }
  }

  close(): Promise<void> {
    for (const { near } of this.#pairs) near.destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  #accept(near: Socket): void {
    if (this.#wire === 'cut') {
      near.destroy();
      return;
    }
    const far = connect(this.target(), '127.0.0.1');
    const pair = { near, far };
    this.#pairs.add(pair);
    const end = (): void => {
      near.destroy();
      far.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', end);
    }
    near.on('data', (bytes) => pass(bytes, near, far));
    far.on('data', (bytes) => {
      if (this.#wire !== 'deaf') pass(bytes, far, near);
    });
    if (this.#wire === 'stall') far.pause();
    else near.resume();
  }
}

/** Hands bytes on, no faster than they are taken. */
function pass(bytes: Buffer, from: Socket, to: Socket): void {
  if (to.write(bytes)) return;
  from.pause();
  to.once('drain', () => from.resume());
}
