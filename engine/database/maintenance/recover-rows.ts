// Recovers the rows of a data file that can no longer be opened (`verify --salvage`). It writes everything
// readable as a dump. It accounts for every row that should exist: by the total of its type, and by id where
// the list of its type still has it. It does not use LMDB, so that no damage can crash the process. It needs
// about 200 bytes of memory per row.
import { checkIntegrity } from '../../base/integrity.js';
import { printUuid } from '../../base/id.js';
import { type StoredCatalog, unhidden } from '../../storage/catalog/catalog-record.js';
import { idsIn } from '../../storage/graph/label-bitmap.js';
import { metaKey, readTotal } from '../../storage/table/meta.js';
import { RowRecovery } from '../../storage/page/row-recovery.js';
import { labelOf } from '../../storage/record/record.js';
import { getWord } from '../../storage/table/little-endian.js';
import { dumpRows } from './dump.js';

export interface Salvaged {
  /** Number of elements in the dump. */
  count: number;
  /** Number of elements that are known to be lost. */
  lost: number;
  /** One line per damaged page and lost element, then one per type. */
  lines: string[];
  /** True if nothing is lost, and every total is known. */
  isComplete: boolean;
}

interface RecordLocation {
  at: number;
  size: number;
}

interface Type {
  name: string;
  found: number;
  /** Undefined when the counter is lost. */
  total: number | undefined;
  /** Ids in the list of the type. */
  listed: number[];
}

const linesMax = 1000;

/** Writes the dump block by block. Fails DATA_CORRUPT when the header or the catalog is lost. */
export function salvage(dataFile: string, write: (block: Uint8Array) => void): Salvaged {
  const rows = new RowRecovery(dataFile);
  try {
    return new Salvage(rows).run(write);
  } finally {
    rows.close();
  }
}

class Salvage {
  readonly #records = new Map<number, RecordLocation>();
  readonly #vectors = new Map<number, RecordLocation>();
  readonly #types = new Map<number, Type>();
  readonly #written = new Set<number>();

  constructor(private readonly rows: RowRecovery) {}

  run(write: (block: Uint8Array) => void): Salvaged {
    const stored = this.#readCatalog();
    this.#collect();
    const labels = new Map<number, number>();
    const source = {
      stored,
      ids: [...this.#records.keys()].sort((a, b) => a - b),
      records: {
        peek: (id: number) => {
          const record = this.#read(this.#records.get(id));
          checkIntegrity(record && this.#types.has(labelOf(record)), `element ${id} has no type`);
          labels.set(id, labelOf(record));
          this.#written.add(id);
          return record;
        },
      },
      vectors: { peek: (id: number) => this.#read(this.#vectors.get(id)) },
    };
    const onDamage = (id: number): void => void this.#written.delete(id);
    for (const block of dumpRows(source, { onDamage })) write(block);
    for (const id of this.#written) this.#types.get(labels.get(id)!)!.found++;
    return this.#account();
  }

  #readCatalog(): StoredCatalog {
    let stored: StoredCatalog | undefined;
    const totals = new Map<number, number>();
    let entries = 0;
    this.rows.each('meta', (key, content) => {
      entries++;
      if (key.equals(metaKey.catalog)) {
        stored ??= (JSON.parse(content.toString()) as { catalog: StoredCatalog }).catalog;
      } else if (key[0] === metaKey.total(0)[0]) {
        const label = key.readUInt16BE(1);
        totals.set(label, readTotal({ peek: () => content }, label).count);
      }
    });
    checkIntegrity(stored, 'the catalog is lost, rows have no names');
    // A type that never had an element has no total.
    const isReported = entries === this.rows.entriesOf('meta');
    for (const { id, name } of unhidden(stored).labels) {
      this.#types.set(id, {
        name,
        found: 0,
        total: totals.get(id) ?? (isReported ? 0 : undefined),
        listed: [],
      });
    }
    return stored;
  }

  #collect(): void {
    const into =
      (locations: Map<number, RecordLocation>) =>
      (key: Buffer, { length }: Buffer, at: number): void => {
        const id = key.readUInt32BE(0);
        if (!locations.has(id)) locations.set(id, { at, size: length });
      };
    this.rows.each('records', into(this.#records));
    this.rows.each('vectors', into(this.#vectors));
    this.rows.each('labels', (key, bits) => {
      const type = this.#types.get(key.readUInt16BE(0));
      for (const id of idsIn(key.readUInt32BE(2), bits)) type?.listed.push(id);
    });
  }

  #read(location: RecordLocation | undefined): Uint8Array | undefined {
    return location && this.rows.bytes(location.at, location.size);
  }

  #account(): Salvaged {
    const lost = new Map<number, string>();
    for (const { name, listed } of this.#types.values()) {
      for (const id of listed) if (!this.#written.has(id)) lost.set(id, name);
    }
    const lines = this.rows.damages.slice(0, linesMax);
    lines.push(...this.#lostLines(lost));
    let isComplete = this.rows.isNewest && lost.size === 0;
    let missing = 0;
    for (const { name, found, total, listed } of this.#types.values()) {
      const uncounted = Math.max(0, (total ?? listed.length) - found);
      missing += uncounted;
      isComplete &&= found === total;
      if (total === 0 && found === 0) continue;
      const of = total === undefined ? ', how many there were is lost' : ` of ${total}`;
      lines.push(`${name}: ${found}${of}${uncounted > 0 ? `, ${uncounted} lost` : ''}`);
    }
    return { count: this.#written.size, lost: missing, lines, isComplete };
  }

  /** Returns the lost elements, by uuid where it is known. */
  #lostLines(lost: ReadonlyMap<number, string>): string[] {
    const uuids = new Map<number, string>();
    this.rows.each('uuid', (key, content) => {
      const id = getWord(content, 0);
      if (lost.has(id)) uuids.set(id, printUuid(key, 0));
    });
    const lines: string[] = [];
    for (const [id, name] of lost) {
      if (lines.length === linesMax) return [...lines, `… ${lost.size - linesMax} more`];
      lines.push(`${name} ${uuids.get(id) ?? `number ${id}`} is lost`);
    }
    return lines;
  }
}
