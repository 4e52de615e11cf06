// Runs the command-line steps of cases: `trellis check` over a source, `trellis serve` with a
// configuration that must be refused, and any other arguments.
import { join } from 'node:path';
import { type ExactObject, plainOf, printExact } from '../corpus/exact-json.js';
import { makeFolder, removeFolder, writeProject } from '../project.js';
import { commandHere } from './command-here.js';
import { runCli } from './server.js';
import { buildText } from '../corpus/step.js';

interface Expectation {
  check_exit?: number;
  exit?: number;
  code?: string;
  mentions?: string[];
  not_mentions?: string[];
}

const minimal = 'N::P { name: String }\nQUERY ping() => RETURN "pong"\n';

function sourceOf(step: ExactObject): string | Buffer | undefined {
  const hex = step.get('source_hex');
  if (hex !== undefined) return Buffer.from(String(hex), 'hex');
  const build = step.get('source_build');
  if (build !== undefined) return buildText(plainOf(build) as never);
  return step.get('source') as string | undefined;
}

export const isCommand = (step: ExactObject): boolean =>
  ['source', 'source_hex', 'source_build', 'toml', 'argv'].some((name) => step.has(name));

/** Throws an error that names the step and what was wrong with exit code or output. */
export async function runCommandStep(step: ExactObject, fallback?: ExactObject): Promise<void> {
  const expect = plainOf(step.get('expect') ?? fallback ?? new Map()) as Expectation;
  const folder = makeFolder();
  const project = join(folder, 'project');
  const source = sourceOf(step);
  const toml = step.get('toml') as string | undefined;
  writeProject(folder, { sources: { 'project/main.hx': source ?? minimal } });
  if (toml !== undefined) writeProject(folder, { sources: { 'project/trellis.toml': toml } });
  const given = step.get('argv') as string[] | undefined;
  const serve = ['serve', project, '--data', join(folder, 'data'), '--port', '0'];
  const argv = given ?? (toml === undefined ? ['check', project] : serve);
  const env = plainOf(step.get('env') ?? new Map()) as Record<string, string>;
  // What serves where it should refuse must not stay.
  const isApart = argv[0] === 'serve' || Object.keys(env).length > 0;
  try {
    const done = isApart
      ? await runCli(argv, { cwd: project, env, timeoutMs: 60_000 })
      : await commandHere(argv, project);
    const wanted = expect.check_exit ?? expect.exit ?? 0;
    const output = done.stdout + done.stderr;
    const refuse = (what: string): never => {
      const text = printExact(step).slice(0, 400);
      throw new Error(`${text}\n  ${what}\n  output: ${output.slice(0, 1500)}`);
    };
    if ('signal' in done && done.signal !== null) refuse(`ended by ${done.signal}`);
    if (done.code !== wanted) refuse(`exit ${done.code}, wanted ${wanted}`);
    const mentions = expect.code === undefined ? [] : [expect.code];
    for (const text of [...mentions, ...(expect.mentions ?? [])])
      if (!output.includes(text)) refuse(`the output does not mention ${text}`);
    for (const text of expect.not_mentions ?? [])
      if (output.includes(text)) refuse(`the output mentions ${text}`);
  } finally {
    removeFolder(folder);
  }
}
