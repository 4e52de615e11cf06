// The storage sources as JavaScript, for tests that need other processes or threads: those cannot
// load TypeScript. Compiled once per state of the sources, below node_modules, where `lmdb` is
// found.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const rooms = ['base', 'fs', 'storage', 'system'];

/** Path of a folder that holds these rooms as modules. */
export async function compileStorage(): Promise<string> {
  const files = rooms.flatMap((room) =>
    readdirSync(join(root, 'engine', room), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(room, file)),
  );
  const sources = files.map((file) => readFileSync(join(root, 'engine', file), 'utf8'));
  const hash = createHash('sha256')
    .update(JSON.stringify([files, sources]))
    .digest('hex');
  const cache = join(root, 'node_modules/.cache/trellis-storage');
  const folder = join(cache, hash.slice(0, 16));
  if (existsSync(folder)) return folder;
  const { ModuleKind, ScriptTarget, transpile } = (await import('typescript')).default;
  const unfinished = `${folder}.${process.pid}`;
  for (const file of files) mkdirSync(dirname(join(unfinished, file)), { recursive: true });
  writeFileSync(join(unfinished, 'package.json'), '{"type":"module"}');
  for (const [i, file] of files.entries()) {
    const options = { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 };
    writeFileSync(join(unfinished, file.replace(/\.ts$/, '.js')), transpile(sources[i]!, options));
  }
  try {
    renameSync(unfinished, folder);
  } catch {
    // Another test process was faster.
    rmSync(unfinished, { recursive: true });
  }
  // Ignore files of former versions of the sources. A name with a dot belongs to a file that another process
  // is still writing.
  for (const name of readdirSync(cache)) {
    if (!name.includes('.') && !folder.endsWith(name)) {
      rmSync(join(cache, name), { recursive: true, force: true });
    }
  }
  return folder;
}
