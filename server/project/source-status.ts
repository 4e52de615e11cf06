// The sources as the server knows them: the set in use, and the last set that was refused, until one is
// accepted again. For the page Source; nothing here decides anything. Invariant: what is in use is what
// the running program was compiled from.
import type { Diagnostic, Source } from '../../engine/internal.js';
import type { Compiled } from './program.js';

interface SourceFile {
  path: string;
  text: string;
  diagnostics: Diagnostic[];
}

export class SourceStatus {
  #used: SourceFile[] = [];
  #refused: SourceFile[] | undefined;
  /** Why the set on disk is not the one in use; undefined while it is. */
  refusal: { errors: number; reason: string } | undefined;

  use(compiled: Compiled): void {
    this.#used = filesOf(compiled);
    this.#refused = undefined;
    this.refusal = undefined;
  }

  /** `compiled`: undefined when the set could not even be read. */
  refuse(compiled: Compiled | undefined, errors: number, reason: string): void {
    this.#refused = compiled === undefined ? [] : filesOf(compiled);
    this.refusal = { errors, reason };
  }

  list() {
    const { refusal } = this;
    return { used: this.#used, refused: refusal && { ...refusal, files: this.#refused } };
  }
}

const filesOf = ({ sources, diagnostics }: Compiled): SourceFile[] =>
  sources.map(({ path, text }) => ({
    path,
    text: textOf(text),
    diagnostics: diagnostics.filter(({ file }) => file === path),
  }));

const textOf = (text: Source['text']): string =>
  typeof text === 'string' ? text : new TextDecoder().decode(text);
