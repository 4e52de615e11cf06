// Runs one of the bundled programs of `dist/bin` with the code that V8 has made of it before: of the
// functions that a start calls, all are there at once, and none is parsed again. The code lies in
// the folder `code` beside the bundles, made by the first process that lives long enough.
//
// Invariant: it is never needed. Code of another bundle has another name, V8 takes none of another
// version or other flags, a file that is not what was written is passed over, because V8 trusts what
// it is given, and where none can be written programs start without.
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
  /** Tells its contents from those of any other. */
  mark: string;
  /** When the code is kept: what was called until then belongs to a start. Absent: this run's is not. */
  keepAfterMs?: number | undefined;
}

/** What a bundle finds by name. An `import` of its own fails where its code was kept. */
const names = 'exports, require, module, bundleUrl, importModule';

const importModule = (of: string): Promise<unknown> => import(of);

/** Gives what the bundle exports. The text of bundles is ASCII. */
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
  const run = script.runInThisContext() as (...given: unknown[]) => void;
  run(module.exports, require, module, url, importModule);
  if (keepAfterMs !== undefined && cachedData === undefined) {
    setTimeout(() => keep(code, script.createCachedData()), keepAfterMs).unref();
  }
  return module.exports;
}

/** Behind the code stands its checksum. */
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

function keep(path: string, code: Buffer): void {
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
