// An entry of a leaf page. A walk reuses one object for all entries, so that reading millions of them
// allocates none.
// Invariant: the object is valid until the visitor returns.
import { checksum, checksumSize } from '../table/checksum.js';
import { getWord } from '../table/little-endian.js';

const none = Buffer.alloc(0);

export class PageEntry {
  /** Page that contains the key. */
  page: Buffer = none;
  keyAt = 0;
  keyEnd = 0;
  /** Bytes that contain the value: the same page, or the overflow pages of a long value. */
  bytes: Buffer = none;
  valueAt = 0;
  valueEnd = 0;
  /** Offset of the value in the file. */
  at = 0;
  isTree = false;

  get key(): Buffer {
    return this.page.subarray(this.keyAt, this.keyEnd);
  }

  get value(): Buffer {
    return this.bytes.subarray(this.valueAt, this.valueEnd);
  }

  /** End of the value and start of its checksum. */
  get contentEnd(): number {
    return this.valueEnd - checksumSize;
  }

  /** The value without its checksum. */
  get content(): Buffer {
    return this.bytes.subarray(this.valueAt, this.contentEnd);
  }

  /** Whether the checksum matches the value, this key, and the table whose name has this checksum. */
  isSound(nameSum: number): boolean {
    const { bytes, valueAt, contentEnd } = this;
    if (contentEnd < valueAt) return false;
    const seed = checksum(this.page, this.keyAt, this.keyEnd, nameSum);
    return checksum(bytes, valueAt, contentEnd, seed) === getWord(bytes, contentEnd);
  }
}
