// Handles a full disk on the writer thread: reports it to the main thread and polls the free space, so that
// writing resumes automatically. While there is space, it reserves pages for deletes.
import type { MessagePort } from 'node:worker_threads';
import type { Storage } from '../../storage/open-storage.js';

const pollMs = 250;
const layMs = 1000;

export function watchDiskSpace({ env: { room }, permit: fence }: Storage, port: MessagePort): void {
  let looking: NodeJS.Timeout | undefined;
  room.onChange = (shortage, errno) => {
    clearInterval(looking);
    if (shortage !== undefined) looking = setInterval(() => room.recheck(), pollMs).unref();
    port.postMessage({ kind: 'room', shortage: shortage?.data, errno });
  };
  const lay = (): void => {
    if (fence.closedBecause === undefined && !room.isFull) room.preallocate();
  };
  lay();
  setInterval(lay, layMs).unref();
}
