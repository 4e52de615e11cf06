// Checks that this code runs from the files of the installed package, and gives `require` to the packages in
// the bundle of the library. It is a file of its own in the package and is evaluated before that bundle.
// Invariant: fails with one line that says what to do, before anything else of the library is loaded.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';

// Bundlers that write CommonJS leave no URL here.
const url = import.meta.url;
if (url === undefined || !existsSync(new URL('./task-thread.cjs', url))) failBundled();

export const require = createRequire(url);

// Some bundlers keep the URL and replace `require`. Theirs finds no file whose name they cannot compute.
if (!isFound(`./${basename(url)}`)) failBundled();

const nativePart = `@lmdb/lmdb-${process.platform}-${process.arch}`;
if (!isFound(`${nativePart}/package.json`) && process.env.LMDB_PREBUILD === undefined) {
  const text =
    `trellisdb needs the package ${nativePart}, which is not installed. It is an optional dependency: ` +
    'install without --omit=optional, on the system that runs the program.';
  throw new Error(text);
}

function isFound(path) {
  try {
    require.resolve(path);
    return true;
  } catch {
    return false;
  }
}

function failBundled() {
  const text =
    'trellisdb cannot be part of a bundle, because its threads and its WebAssembly module are files. Mark ' +
    "it as external: external: ['trellisdb'] in esbuild, ssr: { external: ['trellisdb'] } in Vite, " +
    "serverExternalPackages: ['trellisdb'] in Next.js.";
  throw new Error(text);
}
