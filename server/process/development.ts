// What `trellis dev` adds to a server: a screen with keys at a terminal, a line for each refused
// request, and a look at trellis.toml.
import { errorMessage, type Program, TrellisError } from '../../engine/index.js';
import { type Config, processEnvironment } from '../config/config.js';
import { watchConfig } from '../dev/config-watch.js';
import { RefusedRequests } from '../dev/refused-requests.js';
import { obeyKeys, readyScreen } from '../dev/screen.js';
import { type Log, printLine } from '../observe/log.js';
import type { Refusal } from '../request/reception.js';
import { painterFor } from '../terminal/colour.js';
import { shownPath } from '../terminal/wording.js';
import { typesFiles, writeTypesFiles } from '../project/types-file.js';
import { packageVersion } from './program-file.js';

export class Development {
  readonly #refused: RefusedRequests;
  readonly #unwatch: () => void;

  constructor(
    private readonly config: Config,
    private readonly log: Log,
    reread: () => Config,
  ) {
    const tell = (line: string): void => log('warn', line);
    this.#refused = new RefusedRequests(tell);
    this.#unwatch = watchConfig(config, reread, tell);
  }

  noteRefusal({ method, path, status, code, ms }: Refusal): void {
    this.#refused.add(method, path, status, code, ms);
  }

  /** The types of the program in force, where `types.out` asks for them. Never fails. */
  writeTypes(program: Program, files: number): void {
    const { types } = this.config;
    if (types.out === '') return;
    try {
      const made = { program, files, version: packageVersion() };
      writeTypesFiles(typesFiles(this.config, types.out, types, made));
    } catch (error) {
      if (!(error instanceof TrellisError)) throw error;
      this.log('warn', errorMessage(error.data));
    }
  }

  /** At a terminal: the screen instead of the ready line, and keys. False elsewhere. */
  showReady(
    { queries, schema }: Program,
    url: string,
    sample: string,
    actions: { reload: () => void; quit: () => void },
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
    };
    printLine(readyScreen(facts, painterFor(process.stdout, processEnvironment)));
    if (process.stdin.isTTY) obeyKeys(process.stdin, { ...actions, print: printLine });
    return true;
  }

  close(): void {
    this.#unwatch();
  }
}
