// The shell: queries of one or several lines, their answers, and a few words about the project. Owns the
// line that is being typed. Invariant: Ctrl-C ends a query, never the shell.
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import {
  complete,
  fail,
  type Limits,
  printType,
  type Program,
  type Property,
  type Source,
} from '../../engine/index.js';
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
  asker: QueryRunner;
  /** Whether queries may write. */
  write: boolean;
  input: Readable;
  output: Writable;
  /** Whether somebody is at a terminal. */
  terminal: boolean;
  /** The newest first. */
  history: string[];
}

const help = `.schema               the types
.queries              the stored queries
.params {"a": 1}      arguments of the queries that follow; without any, none
.explain QUERY        its plan
.profile QUERY        rows and time of each step behind the answer
.json                 answers as JSON, or as tables again
.exit                 or Ctrl-D
A query ends with its line when nothing is open, else with an empty line.
NAME a=1 b="two words" calls a stored one.`;

export class Repl {
  readonly #lines: Interface;
  #text = '';
  #params: string | undefined;
  #isJson = false;
  #cancel: (() => void) | undefined;
  /** What was typed behind `.exit` is not read. */
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
    // One after the other, as they were typed.
    let last: Promise<void> = Promise.resolve();
    return new Promise((resolve) => {
      lines.on('history', (all: string[]) => {
        history = all;
      });
      lines.on('SIGINT', () => this.interrupt());
      lines.on('line', (line) => {
        last = last.then(() => this.#take(line)).then(() => this.#ask());
      });
      lines.on('close', () => void last.then(() => resolve(history)));
      this.#ask();
    });
  }

  #ask(): void {
    if (this.#isLeft || !this.options.terminal) return;
    this.#lines.setPrompt(this.#text === '' ? '> ' : '. ');
    this.#lines.prompt();
  }

  /** Ctrl-C: ends the query, or forgets what was typed of the next. */
  interrupt(): void {
    if (this.#cancel !== undefined) return this.#cancel();
    this.#text = '';
    printLine('');
    this.#ask();
  }

  async #take(line: string): Promise<void> {
    if (this.#isLeft) return;
    try {
      if (this.#text === '' && line.trim().startsWith('.')) return await this.#obey(line.trim());
      const isEnd = line.trim() === '';
      this.#text += `${line}\n`;
      const text = this.#text.trim();
      if (text !== '' && !isEnd && !isWhole(text)) return;
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
        return printLine(this.#isJson ? 'answers are JSON' : 'answers are tables');
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

  async #answer(text: string, look?: 'explain' | 'profile'): Promise<void> {
    const { program, limits, asker, write } = this.options;
    const [name, ...words] = splitWords(text) ?? text.split(/\s+/);
    const isCall = words.length > 0 && words.every((word) => /^[A-Za-z]\w*=/.test(word));
    const understood = resolveQuery(isCall ? name! : text, program, limits);
    if (understood === undefined) return;
    const { query, source } = understood;
    if (query.plan.writes && !write && look !== 'explain')
      return printLine('This query writes: start the shell with --write.');
    const question: QueryRequest = {
      ...(source === undefined ? { name: query.name } : { source }),
      parameters: isCall ? argumentsText(query, words) : (this.#params ?? '{}'),
      write: query.plan.writes,
      ...(look && { look }),
    };
    const form = this.#isJson ? 'json' : 'table';
    // Whoever gives up has the prompt back at once, whatever becomes of the answer.
    const given = new Promise<void>((resolve) => {
      let stop: (() => void) | undefined;
      this.#cancel = () => {
        stop?.();
        printLine('given up');
        resolve();
      };
      const hear = (cancel: () => void): void => {
        stop = cancel;
      };
      show(asker, question, query.plan, form, hear).then(resolve, (error: unknown) => {
        if (this.#cancel !== undefined) reportFailure(error);
        resolve();
      });
    });
    await given;
    this.#cancel = undefined;
  }

  /** What the language server would offer, behind what was typed so far. */
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

/** The text of a JSON object, as it was typed. */
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

/** Nothing is open, and what was begun as a body has its end. */
function isWhole(text: string): boolean {
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

/** As somebody declares it. */
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
    ({ name, type, index }) => `${indexWords[index]}${name}: ${printType(type)}`,
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
