// Records when each key was last used, to the minute, in a file next to the key file. `trellis keys list`
// shows these times, which reveal unused keys. Invariant: the times decide nothing. A lost or damaged file is
// replaced by a new one.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { wallMs } from '../../engine/internal.js';
import type { Accepted } from './accepted-credentials.js';
import type { KeyList } from './keys.js';

const pathOf = (keysFile: string): string => `${keysFile}.used`;

/** Times of the last use in RFC 3339, by id of the key. Empty if the file is missing or damaged. */
export function readKeyUse(keysFile: string): ReadonlyMap<string, string> {
  try {
    const content = JSON.parse(readFileSync(pathOf(keysFile), 'utf8')) as Record<string, unknown>;
    const entries = Object.entries(content.used as object);
    return new Map(entries.filter(([, time]) => !Number.isNaN(Date.parse(time))));
  } catch {
    return new Map();
  }
}

const betweenMs = 60_000;

export class KeyUse {
  #used: Map<string, string> | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly keysFile: string,
    private readonly accepted: Accepted,
  ) {}

  /** Writes the changed times, at most once a minute; with `isLast`, immediately. */
  note({ keys }: KeyList, isLast = false): void {
    const now = performance.now();
    if (keys.length === 0 || (!isLast && now - this.#writtenAt < betweenMs)) return;
    this.#writtenAt = now;
    const former = (this.#used ??= new Map(readKeyUse(this.keysFile)));
    const next = new Map<string, string>();
    let isChanged = false;
    for (const { caller, digests } of keys) {
      const before = former.get(caller.keyId);
      const time = this.#latest(digests, before, now);
      if (time === undefined) continue;
      next.set(caller.keyId, time);
      isChanged ||= time !== before;
    }
    this.#used = next;
    if (isChanged) this.#write(next);
  }

  #latest(
    digests: readonly { digest: string }[],
    before: string | undefined,
    now: number,
  ): string | undefined {
    const uses = digests.flatMap(({ digest }) => {
      const at = this.accepted.usedAt(Buffer.from(digest, 'hex'));
      return at === undefined ? [] : [wallMs() - (now - at)];
    });
    const latest = Math.max(...uses);
    // If the clock was set back, the last use keeps its later time.
    if (uses.length === 0 || latest <= Date.parse(before ?? '')) return before;
    return `${new Date(latest).toISOString().slice(0, 16)}Z`;
  }

  #write(used: ReadonlyMap<string, string>): void {
    const path = pathOf(this.keysFile);
    writeFileSync(`${path}.tmp`, `${JSON.stringify({ used: Object.fromEntries(used) })}\n`, {
      mode: 0o600,
    });
    renameSync(`${path}.tmp`, path);
  }
}
