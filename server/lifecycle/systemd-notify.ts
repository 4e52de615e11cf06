// Reports the state of the service to systemd (Type=notify). Node cannot write to a Unix datagram socket, so
// `systemd-notify` does. Without systemd nothing is sent.
import { spawn } from 'node:child_process';
import type { Environment } from '../config/config.js';

type State = 'READY=1' | 'STOPPING=1';

/** Resolves when the state was sent, or could not be sent. */
export function notifySystemd(state: State, environment: Environment): Promise<void> {
  if (!environment.NOTIFY_SOCKET) return Promise.resolve();
  return new Promise<void>((resolve, reject) => {
    const child = spawn('systemd-notify', [state], { stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', () => resolve());
  }).catch(() => undefined);
}
