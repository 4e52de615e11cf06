// `npm run bench -- NAME [ARGS]`: each benchmark is a module below this folder that exports `run(args)`. With
// `--save` its tables are written to results/NAME.json, the source of the figures in README.md and in the manual;
// with `--save-to FILE` to that file.
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { resultFolder, resultOf, thisMachine, today, writeResult } from './support/result-file.js';
import { printedTables } from './support/table.js';

interface Bench {
  run(args: string[]): Promise<void>;
  /** The result file of a run with these arguments, if it is not that of the bench's name. */
  resultName?(args: readonly string[]): string;
}

/** Where each is, below this folder. */
const modules: Record<string, string> = {
  all: 'compare/all',
  client: 'server/client',
  cluster: 'cluster/cluster',
  compare: 'compare/compare',
  compile: 'language/compile',
  cores: 'server/cores',
  corpus: 'language/corpus',
  crud: 'server/crud',
  document: 'server/document',
  embed: 'server/embed',
  embedded: 'embedded/embedded',
  exec: 'language/exec',
  filter: 'vector/filter',
  floor: 'server/floor',
  gvb: 'gvb/gvb',
  http: 'server/http',
  hub: 'server/hub',
  hybrid: 'text/hybrid',
  import: 'import/import',
  ldbc: 'ldbc/ldbc',
  live: 'server/live',
  mcp: 'server/mcp',
  memory: 'vector/memory',
  mixed: 'server/mixed',
  picture: 'server/picture',
  recall: 'vector/recall',
  scale: 'scale/scale',
  session: 'server/session',
  signing: 'cluster/signing',
  sizing: 'cluster/sizing',
  soak: 'soak/soak',
  start: 'server/start',
  streams: 'cluster/streams',
  tenants: 'server/tenants',
  text: 'text/text',
  traverse: 'traverse/traverse',
  vector: 'vector/vector',
  writes: 'server/writes',
};

/** Ticks that the machine's processors have worked, and this process with its ended children. */
function ticks(): { all: number; own: number } | undefined {
  if (!existsSync('/proc/stat')) return undefined;
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [, user, nice, system, , , irq, softirq] = line!.split(/\s+/).map(Number);
  const text = readFileSync('/proc/self/stat', 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const own = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0);
  return { all: user! + nice! + system! + irq! + softirq!, own };
}

/** Percent of the processors that other processes used: figures of a busy machine mean little. */
function othersPercent(before: ReturnType<typeof ticks>, seconds: number): string | undefined {
  const after = ticks();
  if (before === undefined || after === undefined) return undefined;
  const others = (after.all - before.all - (after.own - before.own)) / 100;
  return (Math.max(0, others / seconds / cpus().length) * 100).toFixed(0);
}

/** Writes the tables that were printed to a result file. */
function saveResult(bench: string, path: string, others?: string): void {
  const load = others === undefined ? 'unknown' : `${others} % used by other processes`;
  writeResult(path, resultOf(bench, load, printedTables));
  console.log(`Saved in ${path}.`);
}

/** Removes an option from the arguments. Returns its value: of a flag, its name. */
function takeOption(args: string[], option: string, hasValue: boolean): string | undefined {
  const at = args.indexOf(option);
  return at < 0 ? undefined : args.splice(at, hasValue ? 2 : 1).at(-1);
}

const given = process.argv.slice(2);
const isSaved = takeOption(given, '--save', false) !== undefined;
const savedTo = takeOption(given, '--save-to', true);
const [name, ...args] = given;
if (name === undefined || !Object.hasOwn(modules, name)) {
  console.error(`Usage: npm run bench -- ${Object.keys(modules).join('|')} [ARGS]`);
  process.exitCode = 1;
} else {
  if (name !== 'compare') console.log(`${name}: ${thisMachine()}, ${today()}\n`);
  const bench = (await import(new URL(`./${modules[name]!}.js`, import.meta.url).href)) as Bench;
  const before = ticks();
  const started = performance.now();
  await bench.run(args);
  const others = othersPercent(before, (performance.now() - started) / 1000);
  if (others !== undefined && name !== 'compare') {
    console.log(`\nOther processes used ${others} % of the processors meanwhile.`);
  }
  const result = bench.resultName?.(args) ?? name;
  if (isSaved) saveResult(result, join(resultFolder, `${result}.json`), others);
  if (savedTo !== undefined) saveResult(result, savedTo, others);
}
