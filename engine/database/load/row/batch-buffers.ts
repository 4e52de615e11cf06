// What of a batch goes from thread to thread without a copy.
import type { RowBatch } from './row-batch.js';

/** The memory of a batch that another thread can take over: all that grows with its rows. */
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
