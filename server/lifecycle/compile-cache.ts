// Runs one of the bundled programs of `dist/bin` from the V8 code cache. All functions that a start calls are
// ready immediately, and V8 parses none of them again. The first process that lives long enough writes the
// cache into the folder `code`, next to the bundles.
//
// Invariant: the program never needs the cache. The file name depends on the bundle and on the version of V8,
// and V8 itself rejects code of other versions or flags. A checksum protects the file, because V8 trusts its
// contents. If the cache cannot be read or written, the program starts without it.
import { mkdirSync, readFileSync, renameSync, rm, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { threadId } from 'node:worker_threads';
import { crc32 } from 'node:zlib';

const sumBytes = 4;

export interface Bundle {
  /** The URL of the file. */
  url: string;
  /** Identifies the contents of the bundle. */
  mark: string;
  /**
   * Milliseconds after which the code is cached: the functions called until then belong to a start. Absent:
   * this run writes no cache.
   */
  keepAfterMs?: number | undefined;
}

/**
 * Names in the scope of a bundle. `importModule` replaces `import`, which fails in code from the cache.
 */
const names = 'exports, require, module, bundleUrl, importModule';

const importModule = (of: string): Promise<unknown> => import(of);

/** Returns the exports of the bundle. The text of bundles is ASCII. */
export function runBundle({ url, mark, keepAfterMs }: Bundle): Record<string, unknown> {
  const filename = fileURLToPath(url);
  const require = createRequire(url);
  const code = join(dirname(filename), 'code', `${mark}-${process.versions.v8}-${process.arch}`);
  const cachedData = readIntact(code);
  const text = readFileSync(filename, 'latin1');
  const script = new vm.Script(`(function (${names}) {${text}\n})`, {
    filename,
    ...(cachedData && { cachedData }),
  });
  const module = { exports: {} };
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run(module.exports, require, module, url, importModule);
  if (keepAfterMs !== undefined && cachedData === undefined) {
    setTimeout(() => store(code, script.createCachedData()), keepAfterMs).unref();
  }
  return module.exports;
}

/**
 * Returns the cached code, or undefined if the file is missing or its trailing checksum is wrong.
 */
function readIntact(path: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const end = bytes.length - sumBytes;
    const code = bytes.subarray(0, end);
    return crc32(code) === bytes.readUInt32LE(end) ? code : undefined;
  } catch {
    return undefined;
  }
}

function store(path: string, code: Buffer): void {
  const temporary = `${path}.${process.pid}-${threadId}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    const sum = Buffer.alloc(sumBytes);
    sum.writeUInt32LE(crc32(code));
    writeFileSync(temporary, Buffer.concat([code, sum]), { flag: 'wx' });
    renameSync(temporary, path);
  } catch {
    rm(temporary, { force: true }, () => undefined);
  }
}
