// The interactive shell: queries of one or several lines, their results, and dot commands. Owns the line that
// is being typed.
//
// Invariant: Ctrl-C ends a query, never the shell.
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import {
  complete,
  fail,
  type Limits,
  printSearch,
  printType,
  type Program,
  type Property,
  type Source,
} from '../../engine/internal.js';
import { printLine } from '../telemetry/log.js';
import { reportFailure } from '../lifecycle/exit-code.js';
import { argumentsText, splitWords } from './parse-arguments.js';
import type { QueryRunner, QueryRequest } from './query-runner.js';
import { show } from './run-and-print.js';
import { resolveQuery } from './resolve-query.js';

export interface ReplOptions {
  program: Program;
  sources: readonly Source[];
  limits: Limits;
  runner: QueryRunner;
  /** Whether queries may write. */
  write: boolean;
  input: Readable;
  output: Writable;
  /** Whether input and output are a terminal. */
  terminal: boolean;
  /** Earlier lines, newest first. */
  history: string[];
}

const help = `.schema               Show the types.
.queries              Show the stored queries.
.params {"a": 1}      Set the arguments of the next queries (without a value: none).
.explain QUERY        Show the plan.
.profile QUERY        Show the rows and time of each step after the result.
.json                 Switch between JSON and tables.
.exit                 Leave the shell, as Ctrl-D does.
A query ends at the end of its line if no bracket is open, else with an empty line.
NAME a=1 b="two words" calls a stored query.`;

export class Repl {
  readonly #lines: Interface;
  #text = '';
  #params: string | undefined;
  #isJson = false;
  #cancel: (() => void) | undefined;
  /** Whether `.exit` was typed. Later lines are not read. */
  #isLeft = false;

  constructor(private readonly options: ReplOptions) {
    const { input, output, terminal, history } = options;
    this.#lines = createInterface({
      input,
      output,
      terminal,
      history,
      historySize: 1_000,
      prompt: '> ',
      completer: (line: string) => this.#complete(line),
    });
  }

  /** Resolves with the history when the shell is left. */
  run(): Promise<string[]> {
    const lines = this.#lines;
    let history: string[] = [];
    // Lines run in the order in which they were typed.
    let last: Promise<void> = Promise.resolve();
    return new Promise((resolve) => {
      lines.on('history', (all: string[]) => {
        history = all;
      });
      lines.on('SIGINT', () => this.interrupt());
      lines.on('line', (line) => {
        last = last.then(() => this.#take(line)).then(() => this.#prompt());
      });
      lines.on('close', () => void last.then(() => resolve(history)));
      this.#prompt();
    });
  }

  #prompt(): void {
    if (this.#isLeft || !this.options.terminal) return;
    this.#lines.setPrompt(this.#text === '' ? '> ' : '. ');
    this.#lines.prompt();
  }

  /** Handles Ctrl-C: cancels the running query, or discards the text of the next one. */
  interrupt(): void {
    if (this.#cancel !== undefined) return this.#cancel();
    this.#text = '';
    printLine('');
    this.#prompt();
  }

  async #take(line: string): Promise<void> {
    if (this.#isLeft) return;
    try {
      if (this.#text === '' && line.trim().startsWith('.')) return await this.#obey(line.trim());
      const isEnd = line.trim() === '';
      this.#text += `${line}\n`;
      const text = this.#text.trim();
      if (text !== '' && !isEnd && !isComplete(text)) return;
      this.#text = '';
      if (text !== '') await this.#answer(text);
    } catch (error) {
      reportFailure(error);
    }
  }

  async #obey(line: string): Promise<void> {
    const [, word, rest] = /^\.(\w*)\s*([\s\S]*)$/.exec(line)!;
    switch (word) {
      case 'exit':
        this.#isLeft = true;
        return this.#lines.close();
      case 'schema':
        return printLine(schemaText(this.options.program));
      case 'queries':
        return printLine(queriesText(this.options.program));
      case 'json':
        this.#isJson = !this.#isJson;
        return printLine(this.#isJson ? 'results are JSON' : 'results are tables');
      case 'params':
        this.#params = rest === '' ? undefined : objectText(rest!);
        return;
      case 'explain':
      case 'profile':
        return this.#answer(rest!, word);
      default:
        return printLine(help);
    }
  }

  async #answer(text: string, mode?: 'explain' | 'profile'): Promise<void> {
    const { program, limits, runner, write } = this.options;
    const [name, ...words] = splitWords(text) ?? text.split(/\s+/);
    const isCall = words.length > 0 && words.every((word) => /^[A-Za-z]\w*=/.test(word));
    const understood = resolveQuery(isCall ? name! : text, program, limits);
    if (understood === undefined) return;
    const { query, source } = understood;
    if (query.plan.writes && !write && mode !== 'explain')
      return printLine('This query writes data. Start the shell with --write.');
    const question: QueryRequest = {
      ...(source === undefined ? { name: query.name } : { source }),
      parameters: isCall ? argumentsText(query, words) : (this.#params ?? '{}'),
      write: query.plan.writes,
      ...(mode && { mode }),
    };
    const form = this.#isJson ? 'json' : 'table';
    // After a cancellation the prompt returns immediately, without waiting for the reply.
    const entered = new Promise<void>((resolve) => {
      let stop: (() => void) | undefined;
      this.#cancel = () => {
        stop?.();
        printLine('cancelled');
        resolve();
      };
      const onCancellable = (cancel: () => void): void => {
        stop = cancel;
      };
      show(runner, question, query.plan, form, onCancellable).then(resolve, (error: unknown) => {
        if (this.#cancel !== undefined) reportFailure(error);
        resolve();
      });
    });
    await entered;
    this.#cancel = undefined;
  }

  /** Returns the completions of the language server at the end of the typed text. */
  #complete(line: string): [string[], string] {
    const typed = /\w*$/.exec(line)![0];
    const text = `QUERY shell() =>\n    ${/<-|\bRETURN\b/.test(this.#text + line) ? '' : 'RETURN '}`;
    const source = { path: 'shell', text: text + this.#text + line };
    const { sources, limits, program } = this.options;
    const all = [...sources.map(textSource), source];
    const found = complete(all, 'shell', source.text.length, { compat: program.compat, limits });
    const labels = [...found.map(({ label }) => label), ...program.queries.map(({ name }) => name)];
    return [labels.filter((label) => label.startsWith(typed)), typed];
  }
}

const textSource = ({ path, text }: Source): Source => ({
  path,
  text: typeof text === 'string' ? text : new TextDecoder().decode(text),
});

/** Returns the typed text if it is a JSON object. Fails CONFIG_INVALID. */
function objectText(text: string): string {
  const what = '.params takes one JSON object.';
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text;
  } catch (error) {
    return fail('CONFIG_INVALID', { what }, { hint: (error as Error).message });
  }
  return fail('CONFIG_INVALID', { what });
}

/** Whether a query is complete: no bracket is open, and a body has its RETURN. */
function isComplete(text: string): boolean {
  const signs = text.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '""');
  let open = 0;
  for (const sign of signs.replace(/<-|=>/g, '')) {
    if ('([{'.includes(sign)) open++;
    if (')]}'.includes(sign)) open--;
  }
  if (open > 0 || /(::|<-|=>|,|:)\s*$/.test(signs)) return false;
  const isBody = /<-|^\s*(QUERY|FOR|DROP)\b/.test(signs);
  return !isBody || /\bRETURN\b/.test(signs);
}

/** Returns the schema as HelixQL declarations. */
function schemaText({ schema }: Program): string {
  const { nodes, edges, vectors } = schema;
  const lines = [
    ...nodes.map(({ name, properties }) => `N::${name} ${fieldsText(properties)}`),
    ...edges.map(({ name, unique, from, to, properties }) => {
      const ends = `From: ${from.name}, To: ${to.name}`;
      return `E::${name}${unique ? ' UNIQUE' : ''} { ${ends}, Properties: ${fieldsText(properties)} }`;
    }),
    ...vectors.map(({ name, properties }) => `V::${name} ${fieldsText(properties)}`),
  ];
  return lines.join('\n');
}

const indexWords = { none: '', index: 'INDEX ', unique: 'UNIQUE INDEX ' } as const;

function fieldsText(properties: readonly Property[]): string {
  const fields = properties.map(
    ({ name, type, index, search }) =>
      `${indexWords[index]}${search ? `${printSearch(search)} ` : ''}${name}: ${printType(type)}`,
  );
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

function queriesText({ queries }: Program): string {
  return queries
    .map(({ name, plan }) => {
      const parameters = plan.parameters.map((each) => `${each.name}: ${printType(each.type)}`);
      return `${name}(${parameters.join(', ')})${plan.writes ? '  writes' : ''}`;
    })
    .join('\n');
}
