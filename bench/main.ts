// `npm run bench -- NAME [ARGS]`: each benchmark is a module below this folder that exports `run(args)`.
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

interface Bench {
  run(args: string[]): Promise<void>;
}

/** Where each is, below this folder. */
const modules: Record<string, string> = {
  client: 'server/client',
  cluster: 'cluster/cluster',
  compile: 'language/compile',
  cores: 'server/cores',
  corpus: 'language/corpus',
  crud: 'server/crud',
  document: 'server/document',
  embedded: 'server/embedded',
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

/** How quiet the machine was: figures taken beside other work mean little. */
function printOthers(before: ReturnType<typeof ticks>, seconds: number): void {
  const after = ticks();
  if (before === undefined || after === undefined) return;
  const others = (after.all - before.all - (after.own - before.own)) / 100;
  const share = Math.max(0, others / seconds / cpus().length) * 100;
  console.log(`\nOther processes used ${share.toFixed(0)} % of the processors meanwhile.`);
}

const [name, ...args] = process.argv.slice(2);
if (name === undefined || !Object.hasOwn(modules, name)) {
  console.error(`Usage: npm run bench -- ${Object.keys(modules).join('|')} [ARGS]`);
  process.exitCode = 1;
} else {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const day = new Date().toISOString().slice(0, 10);
  console.log(`${name}: ${cpus().length} x ${model}, Node ${process.versions.node}, ${day}\n`);
  const bench = (await import(new URL(`./${modules[name]!}.js`, import.meta.url).href)) as Bench;
  const before = ticks();
  const started = performance.now();
  await bench.run(args);
  printOthers(before, (performance.now() - started) / 1000);
}
