// Copies data.mdb page by page while others write, as LMDB's own copy does, but with little of it in the way of
// whoever waits for the disk (fs/large-file.ts).
//
// A transaction writes its pages before the meta page that makes them count, and uses none again that is of a state
// which somebody keeps, or of a later one. So whatever meta page is the newest after somebody began to keep a state
// leads to pages that stay as they are.
//
// Invariant: the caller keeps a state (`Env.keep`) from before the call until it has returned.
import { fail } from '../../base/errors.js';
import { checkIntegrity } from '../../base/integrity.js';
import { LargeFile } from '../../fs/large-file.js';
import { PageFile, pageSize } from '../page/page.js';
import { metaPages, metasIn, newestOf } from '../page/page-meta.js';

const pagesPerPiece = 256;
/** A commit between two readings is rare; between all of them is never. */
const readingsMax = 1_000;

/** Copies the newest commit. Fails DATA_CORRUPT where there are no meta pages as LMDB leaves them. */
export function copyPages(from: string, to: string): void {
  const head = readHead(from);
  // Opened after the meta pages were read: but those that LMDB gave out and took back, it has all of their pages.
  const source = new PageFile(from);
  const target = new LargeFile(to, 'wx');
  try {
    const end = Math.min(source.pages, newestOf(metasIn(head)).lastPage + 1);
    const piece = Buffer.alloc(pagesPerPiece * pageSize);
    target.write(head, 0);
    for (let first = metaPages; first < end; first += pagesPerPiece) {
      const count = Math.min(pagesPerPiece, end - first);
      checkIntegrity(source.read(first, count, piece), 'data.mdb is cut short');
      target.write(piece.subarray(0, count * pageSize), first * pageSize);
    }
    target.sync();
  } finally {
    target.close();
    source.close();
  }
}

/** The meta pages as they are between two commits. */
function readHead(from: string): Buffer {
  const file = new PageFile(from);
  try {
    const [head, again] = [0, 1].map(() => Buffer.alloc(metaPages * pageSize)) as [Buffer, Buffer];
    for (let reading = 0; reading < readingsMax; reading++) {
      const isRead = file.read(0, metaPages, head) && file.read(0, metaPages, again);
      if (isRead && head.equals(again) && metasIn(head).length > 0) return head;
    }
  } finally {
    file.close();
  }
  return fail('DATA_CORRUPT', { what: 'the meta pages of data.mdb' });
}
