// A project in an editor: the sources on disk, replaced by the open documents, and their diagnostics.
// Compiles on demand.
import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Analysis, analyze, type Limits, Memo, type Source } from '../../engine/internal.js';
import { type Config, loadConfig } from '../config/config.js';
import { readSources } from '../project/project.js';
import { TextPositions } from './position.js';

/** Maximum number of sources. Further ones are not read. */
const fileMax = 1024 * 1024;
const projectMax = 16 * 1024 * 1024;

const markers = ['trellis.toml', 'helix.toml', 'config.hx.json'];

/** Returns the folder of the project that a file belongs to. */
export function projectOf(path: string): string {
  const folder = dirname(path);
  for (let at = folder; ; at = dirname(at)) {
    if (markers.some((name) => existsSync(join(at, name)))) return at;
    if (dirname(at) === at) return folder;
  }
}

export const pathOf = (uri: string): string | undefined => {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
};

/** A file of a project. */
export interface DocumentFile {
  project: Project;
  path: string;
}

export class Project {
  readonly #open = new Map<string, string>();
  #sources: Source[] | undefined;
  #analysis: Analysis | undefined;
  readonly #positions = new Map<string, TextPositions>();
  readonly options: { compat: boolean; limits?: Limits; cache: Memo };
  readonly #queriesDir: string;

  constructor(readonly folder: string) {
    const config = configOf(folder);
    this.#queriesDir = config?.queriesDir ?? '.';
    const compat = config?.compat === 'helix-2';
    this.options = { compat, cache: new Memo(), ...(config && { limits: config.limits }) };
  }

  pathIn(file: string): string {
    return relative(this.folder, file).split(sep).join('/');
  }

  uriOf(path: string): string {
    return pathToFileURL(join(this.folder, path)).href;
  }

  /** Sets the text of an open document; undefined when the editor has closed it. */
  setText(path: string, text: string | undefined): void {
    if (text === undefined) this.#open.delete(path);
    else this.#open.set(path, text.startsWith('\uFEFF') ? text.slice(1) : text);
    this.clear();
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Marks the project as changed. */
  clear(): void {
    this.#sources = undefined;
    this.#analysis = undefined;
    this.#positions.clear();
  }

  get sources(): readonly Source[] {
    return (this.#sources ??= this.#read());
  }

  #read(): Source[] {
    const texts = new Map<string, string>();
    for (const { path, text } of onDisk(this.folder, this.#queriesDir)) {
      const read = typeof text === 'string' ? text : new TextDecoder().decode(text);
      texts.set(path, read);
    }
    for (const [path, text] of this.#open) texts.set(path, text);
    const sources = [...texts].map(([path, text]) => ({ path, text }));
    const small = sources.filter(({ text }) => text.length <= fileMax);
    return small.reduce((sum, { text }) => sum + text.length, 0) > projectMax ? [] : small;
  }

  get analysis(): Analysis {
    return (this.#analysis ??= analyze(this.sources, this.options));
  }

  positions(path: string): TextPositions {
    let positions = this.#positions.get(path);
    if (positions === undefined) {
      const text = this.sources.find((source) => source.path === path)?.text ?? '';
      positions = new TextPositions(text as string);
      this.#positions.set(path, positions);
    }
    return positions;
  }
}

/** Returns undefined if the configuration or a file cannot be read: the editor continues without it. */
function configOf(projectDir: string): Config | undefined {
  try {
    return loadConfig({ projectDir, flags: new Map(), environment: {} });
  } catch {
    return undefined;
  }
}

function onDisk(folder: string, queriesDir: string): Source[] {
  try {
    return readSources(folder, queriesDir);
  } catch {
    return [];
  }
}
