// Explains why the server cannot listen on an address, and manages Unix sockets (`unix:PATH`) as addresses.
// Invariant: a file is removed only if it is a socket on which no process listens.
import { chmodSync, existsSync, rmSync, statSync } from 'node:fs';
import { type ListenOptions, connect, createServer } from 'node:net';
import { fail } from '../../engine/internal.js';

/**
 * The kernel stores a socket path with its final zero byte in 108 bytes. uWebSockets.js copies the path there
 * without a check.
 */
const socketPathMax = 107;
/** Access for the server's account and its group. The folder's permissions decide who else can connect. */
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

const printListener = (address: string, port: number): string =>
  socketPathOf(address) === undefined ? `${address}:${port}` : address;

/** The path of `unix:PATH`, or undefined for a network address. */
export function socketPathOf(address: string): string | undefined {
  return address.startsWith('unix:') ? address.slice(5) : undefined;
}

/** Fails PORT_IN_USE if the port is taken, and LISTEN_FAILED with the cause for everything else. */
export function failListening(address: string, port: number, errno = 'UNKNOWN'): never {
  if (errno === 'EADDRINUSE' && socketPathOf(address) === undefined) {
    return fail('PORT_IN_USE', { host: address, port });
  }
  const args = {
    place: printListener(address, port),
    cause: causes[errno] ?? 'the system refuses',
    errno,
  };
  const hint = hints[errno];
  return fail('LISTEN_FAILED', args, hint === undefined ? {} : { hint });
}

/**
 * Listens on this address for a moment. Returns the errno of the failure, or undefined if the kernel accepts
 * a listener.
 */
export function probeListening(options: ListenOptions): Promise<string | undefined> {
  return new Promise((resolve) => {
    const trial = createServer();
    trial.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'UNKNOWN'));
    trial.listen({ ...options, exclusive: true }, () => trial.close(() => resolve(undefined)));
  });
}

/**
 * Removes a socket that a dead process left. Fails LISTEN_FAILED if the path is too long, in use, or another
 * kind of file.
 */
export async function clearSocket(address: string): Promise<void> {
  const path = socketPathOf(address)!;
  if (Buffer.byteLength(path) > socketPathMax) failListening(address, 0, 'ENAMETOOLONG');
  // If the file cannot be examined, the bind fails too and reports the cause.
  if (!existsSync(path)) return;
  if (!statSync(path).isSocket()) failListening(address, 0, 'EEXIST');
  if (await answers(path)) failListening(address, 0, 'EADDRINUSE');
  rmSync(path, { force: true });
}

/** Whether a process accepts connections. A socket without permission to connect counts as in use. */
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
