// An entry of a leaf page as it stands there: one object for all entries of a walk, so that reading millions of
// them makes none. Invariant: what it says is valid until the visitor that was given it returns.
import { checksum, checksumSize } from '../table/checksum.js';
import { getWord } from '../table/little-endian.js';

const none = Buffer.alloc(0);

export class PageEntry {
  /** Of the key. */
  page: Buffer = none;
  keyAt = 0;
  keyEnd = 0;
  /** Of the value: the same page, or the pages of a long one. */
  bytes: Buffer = none;
  valueAt = 0;
  valueEnd = 0;
  /** The byte of the file where the value begins. */
  at = 0;
  isTree = false;

  get key(): Buffer {
    return this.page.subarray(this.keyAt, this.keyEnd);
  }

  get value(): Buffer {
    return this.bytes.subarray(this.valueAt, this.valueEnd);
  }

  /** Where the value ends and its checksum begins. */
  get contentEnd(): number {
    return this.valueEnd - checksumSize;
  }

  /** The value without its checksum. */
  get content(): Buffer {
    return this.bytes.subarray(this.valueAt, this.contentEnd);
  }

  /** Whether the value is that of this key in the table whose name has this sum. */
  isSound(nameSum: number): boolean {
    const { bytes, valueAt, contentEnd } = this;
    if (contentEnd < valueAt) return false;
    const seed = checksum(this.page, this.keyAt, this.keyEnd, nameSum);
    return checksum(bytes, valueAt, contentEnd, seed) === getWord(bytes, contentEnd);
  }
}
