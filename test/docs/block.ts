// What a block of code in the manual must hold, by its language and the words behind it. The whole convention:
//
//   sh, ts, js, python   run; the `json` or `text` block right behind is what it prints. `exits N`: ends so
//   hx                   compiles without an error. `with: demo`: beside the demo's schema; `schema`: is remembered for
//                        blocks of the same page that say `with: page`; `faulty`: must not compile, and the `text`
//                        right behind is what is said; `call`, `call: {"parameter": 1}`: its last query is run on the
//                        database of the page, and the `json` right behind is what it answers. `query`: belongs to
//                        the database of the page, too, and is called by blocks of `json` with `call: NAME`
//   toml                 is read as trellis.toml, or as `file: NAME`
//   json                 one document, or one on each line. `call: NAME`: the parameters of a call of that query of the
//                        page; the `json` right behind is its result
//   text                 is prose, or an output
//   anything else, and what cannot run here: `not-run: REASON`
import { join } from 'node:path';
import { compile } from '../../engine/lang/compile.js';
import { printDiagnostic } from '../../engine/lang/syntax/diagnostic.js';
import { loadConfig } from '../../server/config/config.js';
import { readSources } from '../../server/project/project.js';
import type { Block } from '../support/page.js';
import { makeFolder, removeFolder, root, writeProject } from '../support/project.js';
import { difference, readDocuments } from './expected.js';
import { isCall, type PageDatabase } from './page-database.js';
import { pythonWithClient, type Workplace } from './workplace.js';

/** A block with what it needs of its page. */
export interface Task {
  block: Block;
  /** The output the manual shows. */
  output: Block | undefined;
  /** Declarations that the page has made before. */
  schema: string;
}

const outputs = new Set(['json', 'text']);
const programs = new Set(['sh', 'ts', 'js', 'python']);

/** The blocks of a page, outputs with what prints them. */
export function tasksOf(blocks: readonly Block[]): Task[] {
  let schema = '';
  const tasks: Task[] = [];
  for (const [at, block] of blocks.entries()) {
    const before = blocks[at - 1];
    const isBehind = before !== undefined && block.line === endOf(before) + 1;
    if (isBehind && isAnswered(before) && outputs.has(block.language)) continue;
    const next = blocks[at + 1];
    const output = next !== undefined && next.line === endOf(block) + 1 ? next : undefined;
    const isOutput = output !== undefined && outputs.has(output.language);
    tasks.push({ block, output: isOutput ? output : undefined, schema });
    if (block.language === 'hx' && block.info === 'schema') schema += `${block.text}\n`;
  }
  return tasks;
}

const isAnswered = (block: Block): boolean =>
  programs.has(block.language) || isCall(block) || block.info.includes('faulty');

const endOf = ({ line, text }: Block): number => line + text.split('\n').length + 1;

/** Why a block is not run, if it says so or something is missing here. */
export function reasonNotToRun({ language, info }: Block): string | undefined {
  const said = /^not-run: (\S.*)$/.exec(info)?.[1];
  if (said !== undefined) return said;
  if (language === 'python' && !pythonWithClient) return 'python3 with helix-py is not here';
  return undefined;
}

/** Throws what is wrong with a block. */
export async function checkBlock(task: Task, place: Workplace, db: PageDatabase): Promise<void> {
  const { block, output } = task;
  const { language, info, text } = block;
  if (programs.has(language)) await checkProgram(block, output, place);
  else if (isCall(block)) await checkCall(block, output, db);
  else if (language === 'hx') checkSource(task);
  else if (language === 'toml') checkToml(text, info);
  else if (language === 'json') readDocuments(text);
  else if (language !== 'text') throw new Error(`a block of \`${language}\` must say not-run`);
}

async function checkProgram(block: Block, output: Block | undefined, place: Workplace) {
  // An answer that is shown may be an error; one that is not must be none.
  const isCall = block.language === 'sh' && output === undefined && block.text.includes('curl ');
  if (isCall) throw new Error('a call without its answer');
  const { code, stdout, stderr } = await place.run(block);
  const wanted = Number(/^exits (\d+)$/.exec(block.info)?.[1] ?? 0);
  if (code !== wanted) throw new Error(`ended with ${code}\n${stdout}${stderr}`);
  if (output === undefined) return;
  const found = difference(stdout === '' ? stderr : stdout, output.text, output.language);
  if (found !== undefined) throw new Error(found);
}

async function checkCall(block: Block, output: Block | undefined, db: PageDatabase) {
  if (output === undefined) throw new Error('a call without its answer');
  const found = difference(await db.answer(block), output.text, output.language);
  if (found !== undefined) throw new Error(found);
}

function checkSource({ block, output, schema }: Task): void {
  const { info, text } = block;
  const demo = info.includes('with: demo') ? readSources(join(root, 'server/demo'), 'db') : [];
  const beside =
    info.includes('with: page') || info === 'query' ? [{ path: 'a.hx', text: schema }] : [];
  const sources = [...demo, ...beside, { path: 'page.hx', text }];
  const { program, diagnostics } = compile(sources, { compat: false });
  const said = diagnostics.map((one) => printDiagnostic(one, text)).join('\n');
  const isFaulty = info.includes('faulty');
  if (isFaulty !== (program === undefined)) throw new Error(said || 'compiles');
  if (!isFaulty || output === undefined) return;
  const found = difference(said, output.text, output.language);
  if (found !== undefined) throw new Error(found);
}

function checkToml(text: string, info: string): void {
  const folder = makeFolder();
  const name = /^file: (\S+)$/.exec(info)?.[1] ?? 'trellis.toml';
  writeProject(folder, { sources: { [name]: text } });
  loadConfig({ projectDir: folder, flags: new Map(), environment: {} });
  removeFolder(folder);
}
