// Prints the addresses that sockets report, and decides whether an address is this machine.

/** Texts of IPv4 addresses that were printed recently. Most requests come from a few clients. */
const printed = new Map<number, string>();
const printedMax = 1_024;

/**
 * Text of a 4- or 16-byte address; an IPv4 address inside IPv6 is printed as IPv4. Returns the empty text for
 * other lengths.
 */
export function printAddress(bytes: Uint8Array): string {
  if (bytes.length !== 4) return printLongAddress(bytes);
  const number = (bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!;
  let text = printed.get(number);
  if (text === undefined) {
    if (printed.size >= printedMax) printed.clear();
    printed.set(number, (text = bytes.join('.')));
  }
  return text;
}

function printLongAddress(bytes: Uint8Array): string {
  if (bytes.length !== 16) return '';
  const mapped = bytes.subarray(0, 10).every((b) => b === 0) && bytes[10] === 255;
  if (mapped && bytes[11] === 255) return bytes.subarray(12).join('.');
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(((bytes[i]! << 8) | bytes[i + 1]!).toString(16));
  const text = groups.join(':');
  return text === '0:0:0:0:0:0:0:1' ? '::1' : text;
}

/** Node prints an IPv4 client of a dual-stack socket as `::ffff:10.0.0.1`. Returns `10.0.0.1` for it. */
export function plainAddress(text: string): string {
  return text.startsWith('::ffff:') ? text.slice(7) : text;
}

/** The eight groups of an IPv6 address in any notation. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = text.replace(/%.*$/, '').split('::');
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [read(head), read(tail ?? '')];
  const missing = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array<number>(Math.max(0, missing)).fill(0), ...after];
}

/**
 * Source under which a caller is counted: the address itself, for IPv6 its /64. One customer usually has a
 * whole /64, so other addresses of the same network do not escape a limit.
 */
export function sourceOf(address: string): string {
  if (!address.includes(':') || isLoopback(address)) return address;
  // An IPv4 address inside IPv6 counts as the IPv4 address.
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1);
  const groups = groupsOf(address).slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}

/** Replaces the address of a client that connects through a Unix socket. */
export const socketPeer = 'unix';

/** Whether an address or a configured host is this machine only. */
export function isLoopback(host: string): boolean {
  if (host === socketPeer || host.startsWith(`${socketPeer}:`)) return true;
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Addresses to listen on. A loopback host means 127.0.0.1, and ::1 too if the machine has IPv6 loopback. */
export function listenAddresses(host: string, hasIpv6Loopback: boolean): string[] {
  if (host !== '127.0.0.1' && host !== 'localhost') return [host];
  return hasIpv6Loopback ? ['127.0.0.1', '::1'] : ['127.0.0.1'];
}
