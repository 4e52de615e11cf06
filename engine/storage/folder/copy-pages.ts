// Copies data.mdb page by page during writes, like LMDB's own copy, but with little delay for other users of
// the disk (fs/large-file.ts).
//
// A transaction writes its pages before the meta page that makes them valid. It reuses no page of a snapshot
// that a reader holds, or of a later one. So the newest meta page that is read after the caller took its read
// transaction leads only to pages that no longer change.
//
// Invariant: the caller holds a read transaction (`Env.keep`) from before the call until it returns.
import { fail } from '../../base/errors.js';
import { checkIntegrity } from '../../base/integrity.js';
import { LargeFile } from '../../fs/large-file.js';
import { PageFile, pageSize } from '../page/page.js';
import { metaPages, metasIn, newestOf } from '../page/page-meta.js';

const pagesPerChunk = 256;
/** A commit between two reads is rare. This many in sequence do not occur. */
const readsMax = 1_000;

/** Copies the newest commit. Fails DATA_CORRUPT if the meta pages are not as LMDB writes them. */
export function copyPages(from: string, to: string): void {
  const head = readHead(from);
  // Opened after the meta pages were read, so it contains all their pages. The exception are pages that LMDB
  // allocated and released unused.
  const source = new PageFile(from);
  const target = new LargeFile(to, 'wx');
  try {
    const end = Math.min(source.pages, newestOf(metasIn(head)).lastPage + 1);
    const chunk = Buffer.alloc(pagesPerChunk * pageSize);
    target.write(head, 0);
    for (let first = metaPages; first < end; first += pagesPerChunk) {
      const count = Math.min(pagesPerChunk, end - first);
      checkIntegrity(source.read(first, count, chunk), 'data.mdb is cut short');
      target.write(chunk.subarray(0, count * pageSize), first * pageSize);
    }
    target.sync();
  } finally {
    target.close();
    source.close();
  }
}

/** Reads the meta pages as they are between two commits. */
function readHead(from: string): Buffer {
  const file = new PageFile(from);
  try {
    const [head, again] = [0, 1].map(() => Buffer.alloc(metaPages * pageSize)) as [Buffer, Buffer];
    for (let reading = 0; reading < readsMax; reading++) {
      const isRead = file.read(0, metaPages, head) && file.read(0, metaPages, again);
      if (isRead && head.equals(again) && metasIn(head).length > 0) return head;
    }
  } finally {
    file.close();
  }
  return fail('DATA_CORRUPT', { what: 'the meta pages of data.mdb' });
}
