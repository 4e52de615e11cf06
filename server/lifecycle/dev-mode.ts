// Adds to a server what `trellis dev` offers: a screen with keys at a terminal, a line for each request, and
// a watch on trellis.toml.
import { basename, resolve } from 'node:path';
import { errorHint, errorMessage, type Program, TrellisError } from '../../engine/internal.js';
import { type Config, processEnvironment } from '../config/config.js';
import { watchConfig } from '../dev/config-watch.js';
import { RequestLines } from '../dev/request-printer.js';
import { type KeyActions, obeyKeys, readyScreen } from '../dev/dev-banner.js';
import { openPage } from '../dev/open-page.js';
import { type Log, printLine } from '../telemetry/log.js';
import type { AnsweredCall } from '../pipeline/request-answerer.js';
import { painterFor } from '../terminal/colour.js';
import { shownPath } from '../terminal/format.js';
import { configuredTypesTarget, typesFiles, writeTypesFiles } from '../project/types-file.js';
import { packageVersion } from './program-file.js';

export class Development {
  readonly #lines: RequestLines;
  readonly #unwatch: () => void;

  constructor(
    private readonly config: Config,
    private readonly log: Log,
    reread: () => Config,
  ) {
    const print = (line: string): void => log('warn', line);
    this.#lines = new RequestLines((line, isRefused) => log(isRefused ? 'warn' : 'info', line));
    this.#unwatch = watchConfig(config, reread, print);
  }

  noteCall(call: AnsweredCall): void {
    this.#lines.add(call);
  }

  /**
   * Writes the types of the current program if `types.out` is set. `isExplicit` logs the outcome too. Never
   * fails on a TrellisError.
   */
  writeTypes(program: Program, files: number, isExplicit = false): void {
    const { types } = this.config;
    if (types.out === '' && isExplicit)
      this.log('warn', 'There is no file for types: set `out` under [types] in trellis.toml.');
    if (types.out === '') return;
    try {
      const made = { program, files, version: packageVersion() };
      writeTypesFiles(typesFiles(this.config, configuredTypesTarget(this.config), types, made));
      if (isExplicit) this.log('info', `wrote ${types.out}`);
    } catch (error) {
      if (!(error instanceof TrellisError)) throw error;
      const hint = errorHint(error.data);
      this.log('warn', errorMessage(error.data), { ...(hint !== undefined && { hint }) });
    }
  }

  /**
   * At a terminal, shows the screen instead of the ready line and handles keys. Returns false elsewhere.
   */
  showReady(
    { queries, schema }: Program,
    url: string,
    sample: string,
    actions: Pick<KeyActions, 'reload' | 'types' | 'quit'>,
  ): boolean {
    if (!process.stdout.isTTY) return false;
    const facts = {
      version: packageVersion(),
      ms: performance.now(),
      url,
      queries: queries.length,
      types: schema.nodes.length + schema.edges.length + schema.vectors.length,
      dataDir: shownPath(this.config.dataDir),
      sample,
      typesOut: this.config.types.out,
      agents: this.config.mcp.enabled && this.config.sessions.enabled,
      project: basename(resolve(this.config.projectDir)),
    };
    printLine(readyScreen(facts, painterFor(process.stdout, processEnvironment)));
    if (process.stdin.isTTY)
      obeyKeys(process.stdin, {
        ...actions,
        open: () => openPage(url, (what) => this.log('warn', what)),
        print: printLine,
      });
    return true;
  }

  close(): void {
    this.#unwatch();
  }
}
