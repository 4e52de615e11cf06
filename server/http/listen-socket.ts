// Why nobody can listen at an address, in words, and sockets in the file system (`unix:PATH`) as a
// place to listen. Invariant: a file that is no socket, or on which somebody answers, is never
// removed.
import { chmodSync, existsSync, rmSync, statSync } from 'node:fs';
import { type ListenOptions, connect, createServer } from 'node:net';
import { fail } from '../../engine/internal.js';

/** A path is kept with its end in 108 bytes, and copied there unchecked by one transport. */
const socketPathMax = 107;
/** The server's own account and its group: who else may connect is the folder's to say. */
const socketMode = 0o660;

const causes: Record<string, string> = {
  EACCES: 'this account may not',
  EPERM: 'this account may not',
  EADDRNOTAVAIL: 'this machine has no such address',
  EADDRINUSE: 'another process answers there',
  ENOTFOUND: 'no machine has this name',
  EAI_AGAIN: 'the name cannot be looked up now',
  EAFNOSUPPORT: 'this machine lacks the kind of address',
  EMFILE: 'too many files are open',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'its folder is a file',
  EEXIST: 'a file that is no socket is in the way',
  ENAMETOOLONG: `a socket's path has at most ${socketPathMax} bytes`,
};

const hints: Record<string, string> = {
  EACCES: 'Take a port from 1024 up, or a folder that this account may write.',
  EADDRNOTAVAIL: 'Set `server.host` to an address of this machine, or 0.0.0.0 for all.',
  ENOTFOUND: 'Set `server.host` to an address of this machine, or 0.0.0.0 for all.',
};

const placeOf = (address: string, port: number): string =>
  socketPathOf(address) === undefined ? `${address}:${port}` : address;

/** The path of `unix:PATH`, or undefined for an address of the network. */
export function socketPathOf(address: string): string | undefined {
  return address.startsWith('unix:') ? address.slice(5) : undefined;
}

/** Fails with the reason: PORT_IN_USE for a taken port, LISTEN_FAILED for everything else. */
export function failListening(address: string, port: number, errno = 'UNKNOWN'): never {
  if (errno === 'EADDRINUSE' && socketPathOf(address) === undefined) {
    return fail('PORT_IN_USE', { host: address, port });
  }
  const args = {
    place: placeOf(address, port),
    cause: causes[errno] ?? 'the system refuses',
    errno,
  };
  const hint = hints[errno];
  return fail('LISTEN_FAILED', args, hint === undefined ? {} : { hint });
}

/** What the system says to a listener at this address; undefined when it takes one. */
export function probeListening(options: ListenOptions): Promise<string | undefined> {
  return new Promise((resolve) => {
    const trial = createServer();
    trial.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'UNKNOWN'));
    trial.listen({ ...options, exclusive: true }, () => trial.close(() => resolve(undefined)));
  });
}

/** Makes room for a socket: one that nobody answers on was left behind, and goes. */
export async function clearSocket(address: string): Promise<void> {
  const path = socketPathOf(address)!;
  if (Buffer.byteLength(path) > socketPathMax) failListening(address, 0, 'ENAMETOOLONG');
  // What cannot be looked at cannot be bound either: that says why.
  if (!existsSync(path)) return;
  if (!statSync(path).isSocket()) failListening(address, 0, 'EEXIST');
  if (await answers(path)) failListening(address, 0, 'EADDRINUSE');
  rmSync(path, { force: true });
}

/** Whether anybody takes connections; a socket that may not be asked counts as taken. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'));
  });
}

export function openSocketTo(address: string): void {
  chmodSync(socketPathOf(address)!, socketMode);
}

export function removeSocket(address: string): void {
  rmSync(socketPathOf(address)!, { force: true });
}
