// Holds two sets of sources for the page Source: the set in use, and the last refused set, until another set
// is accepted. Nothing here decides anything. Invariant: the running program was compiled from the set in
// use.
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
  /** Why the set on disk is not in use; undefined while it is in use. */
  refusal: { errors: number; reason: string } | undefined;

  use(compiled: Compiled): void {
    this.#used = filesOf(compiled);
    this.#refused = undefined;
    this.refusal = undefined;
  }

  /** `compiled` is undefined if the set could not be read. */
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
