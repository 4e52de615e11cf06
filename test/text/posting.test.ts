// The block and record codecs give back what was put in.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteWriter } from '../../engine/base/bytes.js';
import { BLOCK_MAX, decodeBlock, encodeBlock, newBlock } from '../../engine/text/posting.js';
import { decodeRecord, encodeRecord, newRecord } from '../../engine/text/term-record.js';

const number = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 0xffffffff }));
const postings = fc.uniqueArray(fc.tuple(number, number, number), {
  maxLength: BLOCK_MAX,
  selector: ([id]) => id,
});

it('reads back what it wrote', () => {
  fc.assert(
    fc.property(postings, number, (unsorted, df) => {
      const list = unsorted.sort((a, b) => a[0] - b[0]);
      const record = newRecord();
      record.df = df;
      record.tail.count = list.length;
      for (const [i, [id, frequency, length]] of list.entries()) {
        record.tail.ids[i] = id;
        record.tail.frequencies[i] = frequency;
        record.tail.lengths[i] = length;
      }
      const writer = new ByteWriter(16);
      encodeRecord(writer, record);
      const read = newRecord();
      decodeRecord(writer.take(), read);
      expect(read.df).toBe(df);
      const back = newBlock();
      encodeBlock(writer, read.tail, 0, read.tail.count);
      decodeBlock(writer.take(), back);
      const rows = Array.from({ length: back.count }, (_, i) => [
        back.ids[i],
        back.frequencies[i],
        back.lengths[i],
      ]);
      expect(rows).toEqual(list);
    }),
  );
});
