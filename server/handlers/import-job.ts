// One import while its parts arrive: the parts so far, the last response, and the counts that were reported.
// Invariant: a part whose response was lost may be sent again. It gets the same response, and is loaded one
// time.
import { crc32 } from 'node:zlib';
import {
  type FedRow,
  LoadFeed,
  type StreamPart,
  errorMessage,
  excerpt,
  fail,
  type BulkLoad,
} from '../../engine/internal.js';
import type { ImportReply } from '../import/remote-import.js';

const rejectsMax = 1_000;

type Counts = Pick<LoadFeed, 'nodes' | 'edges' | 'vectors' | 'updated' | 'rejected'>;

const countsOf = ({ nodes, edges, vectors, updated, rejected }: Counts): Counts => {
  return { nodes, edges, vectors, updated, rejected };
};

/** A part as received. */
export interface Part {
  /** Offset in the stream at which the part begins, as its sender says. */
  at: number | undefined;
  body: Uint8Array;
  /** Whether more parts follow. */
  isMore: boolean;
}

export class RunningImport {
  isBusy = false;
  timer: NodeJS.Timeout | undefined;
  readonly #feed: LoadFeed;
  readonly #rejects: FedRow[] = [];
  #reported: Counts = { nodes: 0, edges: 0, vectors: 0, updated: 0, rejected: 0 };
  #last: { part: StreamPart; reply: ImportReply } | undefined;

  constructor(readonly load: BulkLoad) {
    this.#feed = new LoadFeed(load, {
      onRejects: (rows) => {
        this.#rejects.push(...rows.slice(0, rejectsMax - this.#rejects.length));
      },
    });
  }

  /**
   * Returns the response to a part that this import, finished or not, has received before, else undefined.
   */
  answerOf({ at, body, isMore }: Part): ImportReply | undefined {
    const { end, ...counts } = this.load.progress;
    if (!isMore && end?.part && isSame(end.part, at ?? end.part.at, body)) {
      return {
        ...countsOf({ updated: 0, ...counts }),
        at: counts.offset,
        resumed: 0,
        repeated: true,
        rejects: [],
      };
    }
    const last = this.#last;
    // Without `at`, an equal part may be a continuation with the same rows.
    return last && at !== undefined && isSame(last.part, at, body) ? last.reply : undefined;
  }

  /** Whether a part was answered, so that the next one is not the first. */
  get hasParts(): boolean {
    return this.#last !== undefined;
  }

  /** Returns true for the first part of the stream after later parts have arrived. */
  isRestart({ at }: Part): boolean {
    return at === 0 && this.#feed.received > 0;
  }

  async take({ at, body, isMore }: Part): Promise<ImportReply> {
    const { load } = this;
    const feed = this.#feed;
    const { received } = feed;
    if (at !== undefined && at !== received) {
      fail('PARAM_VALUE', { param: 'at', allowed: String(received), got: at });
    }
    const part = { at: received, bytes: body.length, checksum: crc32(body) };
    await feed.write(body);
    if (!isMore) {
      await feed.end(part);
      await load.finish({ part });
    }
    const reported = this.#reported;
    const { nodes, edges, vectors, updated, rejected } = (this.#reported = countsOf(feed));
    const reply = {
      nodes: nodes - reported.nodes,
      edges: edges - reported.edges,
      vectors: vectors - reported.vectors,
      updated: updated - reported.updated,
      rejected: rejected - reported.rejected,
      at: feed.received,
      resumed: feed.resumed,
      repeated: feed.repeated,
      rejects: this.#rejects.splice(0).map((row) => ({ ...row, message: errorMessage(row.error) })),
    };
    this.#last = { part, reply };
    return reply;
  }
}

function isSame(part: StreamPart, at: number, body: Uint8Array): boolean {
  return part.at === at && part.bytes === body.length && part.checksum === crc32(body);
}

/** Parses the `at` of a request. Returns undefined without it. Fails PARAM_TYPE. */
export function offsetOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const at = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(at)) return at;
  return fail('PARAM_TYPE', { param: 'at', type: 'a number of bytes', got: excerpt(text) });
}
