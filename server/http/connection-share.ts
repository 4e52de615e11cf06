// Limits the connections of each address, so that one address cannot use all of them. With node:http, the end
// of a connection reports its address, so the connections are counted. uWebSockets.js does not report it.
// There the kernel's table is read, which lists the connections of all threads. Reading takes at most a tenth
// of the time, and starts only when the total exceeds the limit of one address. Invariant: connections from
// this machine are not counted.
import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { isLoopback, printAddress, sourceOf } from './address.js';

export class CountedConnections {
  readonly #counts = new Map<string, number>();

  /** `limit`: connections per address; 0 means no limit. */
  constructor(private readonly limit: number) {}

  /** Counts one more connection. Returns false if the address exceeds its limit. */
  begin(address: string): boolean {
    if (this.limit === 0 || isLoopback(address)) return true;
    const source = sourceOf(address);
    const count = (this.#counts.get(source) ?? 0) + 1;
    this.#counts.set(source, count);
    return count <= this.limit;
  }

  end(address: string): void {
    if (this.limit === 0 || isLoopback(address)) return;
    const source = sourceOf(address);
    const count = this.#counts.get(source) ?? 0;
    if (count > 1) this.#counts.set(source, count - 1);
    else this.#counts.delete(source);
  }
}

/** Pause before the next read of the kernel's table, in multiples of the time that the last read took. */
const scanShare = 10;
const tables = ['/proc/net/tcp', '/proc/net/tcp6'];

export class SeenConnections {
  /** Connections by source: those of the last read, plus those accepted since. */
  #counts: Map<string, number> | undefined;
  #nextScan = 0;

  /**
   * `limit`: connections per address; 0 means no limit. `portOf` returns the port that the server listens on.
   */
  constructor(
    private readonly limit: number,
    private readonly portOf: () => number,
    private readonly read: (path: string) => string = (path) => readFileSync(path, 'latin1'),
  ) {}

  /**
   * Whether a new connection may stay. `total`: all connections, including this one. `now`:
   * performance.now().
   */
  admits(addressOf: () => string, total: number, now: number): boolean {
    if (this.limit === 0) return true;
    if (total <= this.limit) {
      this.#counts = undefined;
      return true;
    }
    const address = addressOf();
    if (isLoopback(address)) return true;
    const source = sourceOf(address);
    const isNew = this.#counts === undefined;
    if (isNew) this.#scan(now);
    // The table that was just read already includes this connection.
    let count = (this.#counts?.get(source) ?? 0) + (isNew ? 0 : 1);
    if (count > this.limit && !isNew && now >= this.#nextScan) {
      this.#scan(now);
      count = this.#counts?.get(source) ?? 0;
    }
    this.#counts?.set(source, count);
    return count <= this.limit;
  }

  #scan(now: number): void {
    const began = performance.now();
    const counts = new Map<string, number>();
    const port = `:${this.portOf().toString(16).toUpperCase().padStart(4, '0')}`;
    for (const table of tables) {
      for (const remote of this.#remotesIn(table, port)) {
        const source = sourceOf(addressIn(remote));
        counts.set(source, (counts.get(source) ?? 0) + 1);
      }
    }
    this.#counts = counts;
    this.#nextScan = now + (performance.now() - began) * scanShare;
  }

  /** Remote addresses of connections to a port, in the notation of the kernel. */
  #remotesIn(table: string, port: string): string[] {
    let text: string;
    try {
      text = this.read(table);
    } catch {
      // Not Linux: the table does not exist, and no limit per address applies.
      return [];
    }
    return text.split('\n').flatMap((line) => {
      const [, local = '', remote = '', state] = line.trim().split(/\s+/, 4);
      // State 01 is ESTABLISHED; 08 is CLOSE_WAIT, where the client has ended its stream.
      const isOpen = state === '01' || state === '08';
      return isOpen && local.endsWith(port) ? [remote.slice(0, remote.indexOf(':'))] : [];
    });
  }
}

/** The kernel prints an address as 32-bit words in the byte order of the machine. */
function addressIn(digits: string): string {
  const bytes = Buffer.from(digits, 'hex');
  return printAddress(endianness() === 'LE' ? bytes.swap32() : bytes);
}
