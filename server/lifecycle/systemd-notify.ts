// Tells systemd how the service is (Type=notify). Node speaks to no datagram socket of the file system, so
// systemd's own program does; without systemd nothing is told.
import { spawn } from 'node:child_process';
import type { Environment } from '../config/config.js';

type State = 'READY=1' | 'STOPPING=1';

/** Resolves when it has been told, or cannot be. */
export function notifySystemd(state: State, environment: Environment): Promise<void> {
  if (!environment.NOTIFY_SOCKET) return Promise.resolve();
  return new Promise<void>((resolve, reject) => {
    const child = spawn('systemd-notify', [state], { stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', () => resolve());
  }).catch(() => undefined);
}
