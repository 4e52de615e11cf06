// Network addresses as text: printing what a socket reports, and telling whether it is this
// machine.

/** Addresses of IPv4 that were printed lately: most requests are of few clients. */
const printed = new Map<number, string>();
const printedMax = 1_024;

/** Text of a 4- or 16-byte address; an IPv4 address inside IPv6 is printed as IPv4. Empty for other lengths. */
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

/** `::ffff:10.0.0.1` as Node prints a dual-stack peer becomes `10.0.0.1`. */
export function plainAddress(text: string): string {
  return text.startsWith('::ffff:') ? text.slice(7) : text;
}

/** The eight groups of an address of IPv6 in any of its forms. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = text.replace(/%.*$/, '').split('::');
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [before, behind] = [read(head), read(tail ?? '')];
  const missing = tail === undefined ? 0 : 8 - before.length - behind.length;
  return [...before, ...Array<number>(Math.max(0, missing)).fill(0), ...behind];
}

/**
 * Whom an address stands for where callers are counted: of IPv6 its /64, which is what one customer has, so that
 * nobody gets round a bound by their other addresses.
 */
export function sourceOf(address: string): string {
  if (!address.includes(':') || isLoopback(address)) return address;
  // Of IPv4 in IPv6, the IPv4.
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1);
  const groups = groupsOf(address).slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}

/** What stands for the address of whoever comes through a socket in the file system. */
export const socketPeer = 'unix';

/** Whether an address or configured host is this machine only. */
export function isLoopback(host: string): boolean {
  if (host === socketPeer || host.startsWith(`${socketPeer}:`)) return true;
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/**
 * Addresses to listen on: a loopback host means both families, as far as the machine has them
 * (http.md 1).
 */
export function listenAddresses(host: string, hasIpv6Loopback: boolean): string[] {
  if (host !== '127.0.0.1' && host !== 'localhost') return [host];
  return hasIpv6Loopback ? ['127.0.0.1', '::1'] : ['127.0.0.1'];
}
