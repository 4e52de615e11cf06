// The writer beside a full disk: tells the main thread, and looks again and again whether there is room, so that
// writing goes on by itself. While there is room it lays pages ready for deletes.
import type { MessagePort } from 'node:worker_threads';
import type { Storage } from '../../storage/open-storage.js';

const lookMs = 250;
const layMs = 1000;

export function watchRoom({ env: { room }, permit }: Storage, port: MessagePort): void {
  let looking: NodeJS.Timeout | undefined;
  room.onChange = (shortage, errno) => {
    clearInterval(looking);
    if (shortage !== undefined) looking = setInterval(() => room.look(), lookMs).unref();
    port.postMessage({ kind: 'room', shortage: shortage?.data, errno });
  };
  const lay = (): void => {
    if (permit.closedBecause === undefined && !room.isFull) room.layReady();
  };
  lay();
  setInterval(lay, layMs).unref();
}
