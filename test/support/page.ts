// The pages of the manual: every Markdown file of the project, with its blocks of code. Knows nothing of what the
// blocks mean.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project.js';
import { trackedFiles } from './source-tree.js';

export interface Page {
  /** From the project root, e.g. `server/README.md`. */
  path: string;
  text: string;
}

/** A fenced block of code. */
export interface Block {
  page: string;
  /** Line of the opening fence, from 1. */
  line: number;
  /** First word behind the fence: `sh`, `json`, ... */
  language: string;
  /** The rest of that line, e.g. `not-run: needs docker`. */
  info: string;
  text: string;
}

export function readPages(): Page[] {
  const paths = trackedFiles().filter((path) => path.endsWith('.md'));
  return ['README.md', ...paths].map((path) => ({
    path,
    text: readFileSync(join(root, path), 'utf8'),
  }));
}

/**
 * The manual: what `trellis init` writes is about projects of their own, and tested with that command;
 * prompts that tests serve are no pages.
 */
export function readManual(): Page[] {
  return readPages().filter(({ path }) => !/^server\/template\/|\/prompts\//.test(path));
}

/** The blocks of a page, in its order. */
export function blocksOf({ path, text }: Page): Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  let open: { block: Block; fence: string; from: number } | undefined;
  for (const [at, line] of lines.entries()) {
    const match = /^(`{3,})(\S*) ?(.*)$/.exec(line);
    if (match === null) continue;
    const [, fence, language, info] = match as unknown as [string, string, string, string];
    if (open === undefined) {
      const block = { page: path, line: at + 1, language, info, text: '' };
      open = { block, fence, from: at + 1 };
    } else if (fence === open.fence && language === '') {
      open.block.text = lines.slice(open.from, at).join('\n');
      blocks.push(open.block);
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`${path}:${open.block.line}: a block is not closed`);
  return blocks;
}
