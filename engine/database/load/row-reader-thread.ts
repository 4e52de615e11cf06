// The thread side of a bulk load: reads rows while the writer writes the rows before. It lives as long as the
// load.
// Invariant: chunks are read in the order of arrival, because names are numbered in this order.
import type { LanguageName } from '../../base/text/language-name.js';
import type { MessagePort } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { wallMs } from '../../base/clock.js';
import { instantFromMicros } from '../../base/date.js';
import { type ErrorData, toErrorData } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import { openStorage } from '../../storage/open-storage.js';
import type { RowBatch } from './row/row-batch.js';
import { buffersOf } from './row/batch-buffers.js';
import { RowReader } from './row/row-reader.js';

export interface LoaderSetup {
  role: 'loader';
  port: MessagePort;
  graphPath: string;
  limits: Limits;
  textEnabled: boolean;
  textLanguage: LanguageName;
}

export type ToLoader =
  /** `refresh`: the schema has changed since the last chunk. */
  | {
      kind: 'rows';
      id: number;
      bytes: Uint8Array<ArrayBuffer>;
      line: number;
      refresh: boolean;
      /** No more rows follow. */
      isLast: boolean;
    }
  | { kind: 'close' };

/** A chunk that was read, and its bytes. */
export interface ReadChunk {
  batch: RowBatch;
  checksum: number;
  bytes: Uint8Array<ArrayBuffer>;
}

export interface FromLoader {
  id: number;
  read?: ReadChunk;
  error?: ErrorData;
  stack?: string;
}

/** Resolves when the load is over. */
export function serveLoad(setup: LoaderSetup): Promise<void> {
  return new Promise((resolve) => {
    const { port, limits, textEnabled, textLanguage } = setup;
    const storage = openStorage(setup.graphPath, { limits, mode: 'read' });
    const reader = new RowReader(storage.catalog, { limits, textEnabled, textLanguage });
    port.on('message', (message: ToLoader) => {
      if (message.kind === 'close') {
        storage.close();
        port.close();
        resolve();
        return;
      }
      const { id } = message;
      try {
        if (message.refresh) {
          storage.reloadCatalog();
          reader.setCatalog(storage.catalog);
        }
        const { bytes, line, isLast } = message;
        const batch = reader.read(bytes, line, instantFromMicros(wallMs() * 1000), isLast);
        const reply: FromLoader = {
          id,
          read: { batch, checksum: crc32(bytes), bytes },
        };
        port.postMessage(reply, [bytes.buffer, ...buffersOf(batch)]);
      } catch (error) {
        port.postMessage({ id, ...toErrorData(error) } satisfies FromLoader);
      }
    });
  });
}
