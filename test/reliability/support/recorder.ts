// Has the preload library record-io.c write down what a process does to its files, and reads it.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { compiled, whyNoC } from './compiled.js';

/** Why I/O cannot be recorded on this machine, or undefined. */
export const whyNoRecorder = (): string | undefined => whyNoC('recording I/O');

const library = (): string => compiled('record-io.c', '-shared', '-fPIC', '-ldl', '-lpthread');

export type RecordKind = keyof typeof kinds;

const kinds = {
  create: 1,
  write: 2,
  syncBegin: 3,
  syncEnd: 4,
  rename: 5,
  resize: 6,
  unlink: 7,
  mkdir: 8,
  fault: 9,
  foreign: 10,
} as const;

const kindOf = new Map<number, RecordKind>(
  Object.entries(kinds).map(([name, number]) => [number, name as RecordKind]),
);

/** One call that changed something below the folder. */
export interface IoRecord {
  kind: RecordKind;
  thread: number;
  /** The write was on the disk when the call returned. */
  through: boolean;
  /** Errors: the kind of the call that failed. */
  failed: RecordKind | undefined;
  /** Inode. */
  file: number;
  /** Place of a write, new size of a file, number of a call that failed. */
  at: number;
  /** Bytes of a write, else a path below the folder. */
  bytes: Buffer;
  /** Target of a rename. */
  to: string;
  /** Where the record begins in the log. */
  position: number;
}

export interface RecorderOptions {
  /** Files are not synchronised: see record-io.c. */
  noSync?: boolean;
  /** `N:EIO|ENOSPC|EINTR|SHORT[:always]`. */
  fail?: string;
  /** A file that makes the disk full for as long as it is there: see record-io.c. */
  full?: string;
}

/** A log of what processes do below one folder. */
export class Recorder {
  readonly folder: string;

  /** Records the calls on `folder`, which must exist. Writes their log next to that folder. */
  constructor(
    folder: string,
    private readonly log: string,
    private readonly options: RecorderOptions = {},
  ) {
    this.folder = realpathSync(folder);
  }

  /** What a recorded process has in its environment. */
  get env(): Record<string, string> {
    return {
      LD_PRELOAD: library(),
      UV_USE_IO_URING: '0',
      TRELLIS_IO_ROOT: this.folder,
      TRELLIS_IO_LOG: this.log,
      ...(this.options.noSync && { TRELLIS_IO_NO_SYNC: '1' }),
      ...(this.options.fail && { TRELLIS_IO_FAIL: this.options.fail }),
      ...(this.options.full && { TRELLIS_IO_FULL: this.options.full }),
    };
  }

  /** Everything that was recorded before now lies before this place. */
  position(): number {
    return statSync(this.log, { throwIfNoEntry: false })?.size ?? 0;
  }

  records(): IoRecord[] {
    const log = existsSync(this.log) ? readFileSync(this.log) : Buffer.alloc(0);
    const records: IoRecord[] = [];
    for (let position = 0; position + 48 <= log.length; ) {
      if (log.readUInt32LE(position) !== 0x54524543) throw new Error('the log is damaged');
      const [size1, size2] = [log.readUInt32LE(position + 32), log.readUInt32LE(position + 36)];
      const begin = position + 48;
      records.push({
        kind: kindOf.get(log.readUInt32LE(position + 4))!,
        thread: log.readUInt32LE(position + 8),
        through: log.readUInt32LE(position + 12) === 1,
        failed: kindOf.get(log.readUInt32LE(position + 12)),
        file: Number(log.readBigUInt64LE(position + 16)),
        at: Number(log.readBigUInt64LE(position + 24)),
        bytes: log.subarray(begin, begin + size1),
        to: log.toString('utf8', begin + size1, begin + size1 + size2),
        position,
      });
      position = begin + size1 + size2;
    }
    return records;
  }
}
