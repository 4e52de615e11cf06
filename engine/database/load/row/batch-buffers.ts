// Lists the memory of a batch that can be transferred between threads.
import type { RowBatch } from './row-batch.js';

/** Returns the buffers of a batch that another thread can take over: everything that grows with its rows. */
export function buffersOf(batch: RowBatch): ArrayBuffer[] {
  const { heads, bytes, entries, vectorHeads, vectors, ownRows, documents, terms } = batch;
  const { keys, keyEnds, upserts } = batch;
  return [
    heads.buffer,
    bytes.buffer,
    entries.buffer,
    vectorHeads.buffer,
    vectors.buffer,
    keys.buffer,
    keyEnds.buffer,
    upserts.buffer,
    ownRows.buffer,
    documents.buffer,
    terms.heads.buffer,
    terms.names.buffer,
    terms.postings.buffer,
  ];
}
