// The database of a page: its declarations and the queries it calls, in one embedded engine. Calls run in the
// order of the page, so that a later call can read what an earlier one wrote. A page without declarations
// next to a README with declarations uses those, and the data of its first call.
import type { Block } from '../support/page.js';
import {
  callEmbedded,
  openEmbedded,
  type EmbeddedServer,
} from '../support/server/embedded-server.js';

const callForm = /^call(?:: (\{.*\}))?$/;
const namedCallForm = /^call: (\w+)$/;

/** Whether a block calls a query: `hx` with the arguments after the word, or `json` that is the arguments. */
export const isCall = ({ language, info }: Block): boolean =>
  (language === 'hx' && callForm.test(info)) || (language === 'json' && namedCallForm.test(info));

const isSchema = ({ language, info }: Block): boolean => language === 'hx' && info === 'schema';
const isQuery = ({ language, info }: Block): boolean =>
  language === 'hx' && (info === 'query' || callForm.test(info));

export class PageDatabase {
  #opened: Promise<EmbeddedServer> | undefined;

  constructor(
    private readonly blocks: readonly Block[],
    private readonly readme: readonly Block[],
  ) {}

  /** The result of the last query of the block, or of the one that the block names. */
  async answer(block: Block): Promise<string> {
    this.#opened ??= this.#open();
    return this.#call(await this.#opened, block);
  }

  async dispose(): Promise<void> {
    await (await this.#opened)?.dispose();
  }

  async #open(): Promise<EmbeddedServer> {
    const declares = this.blocks.some(isSchema);
    const sowing = declares ? undefined : this.readme.find(isCall);
    const own = this.blocks.filter((block) => isSchema(block) || isQuery(block));
    const kept = declares ? own : [...this.readme.filter(isSchema), sowing!, ...own];
    const text = kept.map((block) => block.text).join('\n');
    const server = await openEmbedded({ sources: { 'page.hx': text } });
    if (sowing !== undefined) await this.#call(server, sowing);
    return server;
  }

  async #call({ db }: EmbeddedServer, { info, text }: Block): Promise<string> {
    const named = namedCallForm.exec(info)?.[1];
    const name = named ?? [...text.matchAll(/^ *QUERY (\w+)/gm)].at(-1)?.[1] ?? '';
    const body = Buffer.from(named === undefined ? (callForm.exec(info)?.[1] ?? '{}') : text);
    return (await callEmbedded(db, name, body)).text;
  }
}
