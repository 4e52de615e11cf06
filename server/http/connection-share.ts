// How many connections each address has, so that one does not have all of them (access.md 8). Where the end of a
// connection tells its address, they are counted. uWebSockets.js does not tell it: there the system is asked, which
// knows the connections of all threads; at most for a tenth of the time, and only when there are so many in all that
// one address may have too many. Invariant: this machine is not counted.
import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { isLoopback, printAddress, sourceOf } from './address.js';

export class CountedConnections {
  readonly #counts = new Map<string, number>();

  /** `limit`: 0 is none. */
  constructor(private readonly limit: number) {}

  /** Counts one more; false: it is one too many. */
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

/** Of the time, what looking may take. */
const lookShare = 10;
const tables = ['/proc/net/tcp', '/proc/net/tcp6'];

export class SeenConnections {
  /** As the system had them, and those that came since. */
  #counts: Map<string, number> | undefined;
  #nextLook = 0;

  /** `limit`: 0 is none. `portOf`: where connections come to. */
  constructor(
    private readonly limit: number,
    private readonly portOf: () => number,
    private readonly read: (path: string) => string = (path) => readFileSync(path, 'latin1'),
  ) {}

  /** Whether this one may stay; `total`: of all connections, this one included. `now`: performance.now(). */
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
    if (isNew) this.#look(now);
    // What the system has just told includes this one.
    let count = (this.#counts?.get(source) ?? 0) + (isNew ? 0 : 1);
    if (count > this.limit && !isNew && now >= this.#nextLook) {
      this.#look(now);
      count = this.#counts?.get(source) ?? 0;
    }
    this.#counts?.set(source, count);
    return count <= this.limit;
  }

  #look(now: number): void {
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
    this.#nextLook = now + (performance.now() - began) * lookShare;
  }

  /** Addresses of those who are connected to a port, as the system writes them. */
  #remotesIn(table: string, port: string): string[] {
    let text: string;
    try {
      text = this.read(table);
    } catch {
      // Another system: nobody is told apart.
      return [];
    }
    return text.split('\n').flatMap((line) => {
      const [, local = '', remote = '', state] = line.trim().split(/\s+/, 4);
      // Established, and those whose client has sent the end of its stream.
      const isOpen = state === '01' || state === '08';
      return isOpen && local.endsWith(port) ? [remote.slice(0, remote.indexOf(':'))] : [];
    });
  }
}

/** Four bytes at a time are in the order of the machine. */
function addressIn(digits: string): string {
  const bytes = Buffer.from(digits, 'hex');
  return printAddress(endianness() === 'LE' ? bytes.swap32() : bytes);
}
