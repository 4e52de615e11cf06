// Maps errors to the exit codes of the commands, and prints the final error line on stderr.
import {
  diskTrouble,
  type ErrorCode,
  TrellisError,
  toErrorData,
  errorHint,
  errorMessage,
  isFullDisk,
} from '../../engine/internal.js';
import { isServerError } from '../http/http-error.js';
import { shownPath } from '../terminal/format.js';
import { printErrorLine } from '../telemetry/log.js';

export const exitCodes = {
  ok: 0,
  diagnostics: 1,
  differs: 2,
  source: 65,
  internal: 70,
  output: 74,
} as const;

const byCode: Partial<Record<ErrorCode, number>> = {
  SOURCE_INVALID: exitCodes.source,
  QUERY_INVALID: exitCodes.source,
  ROW_REFUSED: exitCodes.source,
  IMPORT_KNOWN: 78,
  SCHEMA_INCOMPATIBLE: exitCodes.source,
  PORT_IN_USE: 71,
  LISTEN_FAILED: 71,
  DATA_CORRUPT: 74,
  DATA_DIR_BAD: 74,
  FILE_UNUSABLE: 74,
  INSUFFICIENT_STORAGE: 74,
  STORAGE_LOST: 74,
  DATA_LOCKED: 75,
  SERVER_UNREACHABLE: 75,
  RESOURCE_EXHAUSTED: 75,
  FORMAT_TOO_NEW: 76,
  CONFIG_INVALID: 78,
  FEATURE_DISABLED: 78,
  TENANT_UNKNOWN: 78,
  LOG_UNSAFE: 78,
  NODE_LEFT: 78,
  NODE_NAME_TAKEN: 78,
  NODE_DIFFERS: 78,
  LOG_LOST: 74,
  LOG_UNTRUSTED: 74,
  LOG_TRUNCATED: 74,
  LOG_UNAVAILABLE: 75,
};

const advice: Partial<Record<ErrorCode, string>> = {
  SOURCE_INVALID: 'Run `trellis check` and correct the sources.',
  PORT_IN_USE: 'Stop the other server, or choose another port with --port.',
  LISTEN_FAILED: 'Set `server.host` and `server.port` to where this machine can listen.',
  DATA_CORRUPT: 'Run `trellis verify --deep`, or restore a backup.',
  DATA_DIR_BAD: 'Choose a writable directory on a local disk with --data.',
  DATA_LOCKED: 'Stop the other server, or choose another directory with --data.',
  FORMAT_TOO_NEW: 'Use the version of TrellisDB that wrote the data, or a newer one.',
};

/**
 * Returns the exit code of a command that failed with this error. An error without an entry is `internal` if
 * a server would be at fault, else `diagnostics`.
 */
export const exitCodeOf = (code: ErrorCode): number =>
  byCode[code] ?? (isServerError(code) ? exitCodes.internal : exitCodes.diagnostics);

/** System calls on an open file. Their errors have no path. */
const fileCalls: ReadonlySet<unknown> = new Set(['read', 'write', 'fsync', 'ftruncate', 'close']);

/** Error for a deleted working directory, where no relative path can be resolved. */
const directoryMissing = {
  code: 'FILE_UNUSABLE' as const,
  args: { path: 'the working directory', reason: 'it was deleted' },
  hint: 'Change to a folder that exists, or give absolute paths.',
};

/** Bytes of the smallest allocation of a file. */
const blockBytes = 4096;

/**
 * Turns a file-system error into a TrellisError with its path or system call, so that it does not look like a
 * defect. Returns other errors unchanged.
 */
function ofFile(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { path: named, syscall, message } = error as NodeJS.ErrnoException;
  const { error: shortage } = toErrorData(error);
  if (shortage.code === 'RESOURCE_EXHAUSTED') return new TrellisError(shortage);
  const reason = /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1];
  if (syscall === 'uv_cwd') return new TrellisError(directoryMissing);
  const path = named === undefined ? syscall : shownPath(named);
  if (reason === undefined || path === undefined) return error;
  if (named === undefined && !fileCalls.has(syscall)) return error;
  // The path identifies the full disk. An error without a path does not.
  if (named !== undefined && isFullDisk(error))
    return diskTrouble(error, { path: named, name: path, bytes: blockBytes });
  return new TrellisError({ code: 'FILE_UNUSABLE', args: { path, reason } });
}

/** Prints the error as one last line, `CODE: message What to do.`, and returns the exit code. */
export function reportFailure(thrown: unknown): number {
  const error = ofFile(thrown);
  if (!(error instanceof TrellisError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    printErrorLine(text);
    printErrorLine('INTERNAL: a defect ended the command. Report it with the lines above.');
    return exitCodes.internal;
  }
  const { data } = error;
  const hint = errorHint(data) ?? advice[data.code] ?? '';
  const message = errorMessage(data).replaceAll(/\s*\n\s*/g, ' ');
  printErrorLine(`${data.code}: ${message} ${hint}`.trimEnd());
  return exitCodeOf(data.code);
}
