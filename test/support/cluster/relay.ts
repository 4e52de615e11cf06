// A TCP connection that a test may spoil: between a node and a log server, or between two of them.
// Invariant: what is passed on is passed on unchanged and in order; whatever is dropped ends the
// connection, so that nobody ever reads half a message as another one.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * pass: as if it were not there · cut: connections end, and none is made · stall: nothing gets through either way,
 * and nobody is told · deaf: what the near end says arrives, answers do not.
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

  /** To the port that `target` gives when somebody connects. */
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
