// `npm run bench -- NAME [ARGS]`: each benchmark is a module beside this one that exports `run(args)`.
import { readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';

interface Bench {
  run(args: string[]): Promise<void>;
}

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Modules that measure something, by name. */
function names(): string[] {
  const parts = new Set(['main', 'table', 'load']);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .map((name) => name.slice(0, -3))
    .filter((name) => !parts.has(name) && !name.includes('-'));
}

const [name, ...args] = process.argv.slice(2);
if (name === undefined || !names().includes(name)) {
  console.error(`Usage: npm run bench -- ${names().join('|')} [ARGS]`);
  process.exitCode = 1;
} else {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const day = new Date().toISOString().slice(0, 10);
  console.log(`${name}: ${cpus().length} x ${model}, Node ${process.versions.node}, ${day}\n`);
  const bench = (await import(pathToFileURL(`${folder}${name}.js`).href)) as Bench;
  await bench.run(args);
}
