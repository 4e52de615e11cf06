// An editor for tests: a language server in this process, over a project in a folder of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FrameReader, frameOf } from '../../server/lsp/frame.js';
import { LanguageServer } from '../../server/lsp/server.js';

interface Sent {
  id?: number;
  method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes.
  params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes.
  result?: any;
  error?: { code: number; message: string };
}

interface Told {
  range: object;
  code: string;
  message: string;
}

export class Editor {
  readonly folder = mkdtempSync(join(tmpdir(), 'trellis-lsp-'));
  /** The last that was said of each file: a server says all of it with every edit, of which there are many. */
  readonly #diagnostics = new Map<string, Told[]>();
  exited: number | undefined;
  readonly #answers = new Map<number, Sent>();
  readonly #server: LanguageServer;
  #lastId = 0;

  constructor(files: Record<string, string>) {
    writeFileSync(join(this.folder, 'trellis.toml'), '');
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.folder, name), text);
    const reader = new FrameReader();
    this.#server = new LanguageServer({
      version: '1.0.0',
      write: (frame) => {
        for (const message of reader.push(Buffer.from(frame)) as Sent[]) this.#hear(message);
      },
      onExit: (code) => {
        this.exited = code;
      },
    });
  }

  #hear(message: Sent): void {
    const { id, params } = message;
    if (id !== undefined) this.#answers.set(id, message);
    else if (params?.uri !== undefined) this.#diagnostics.set(params.uri, params.diagnostics);
  }

  bytes(bytes: string | Buffer): void {
    this.#server.receive(Buffer.from(bytes));
  }

  tell(method: string, params: object = {}): void {
    this.bytes(frameOf({ method, params }));
  }

  /** The whole answer. */
  ask(method: string, params: object = {}): Sent {
    const id = ++this.#lastId;
    this.bytes(frameOf({ id, method, params }));
    const answer = this.#answers.get(id);
    this.#answers.delete(id);
    if (answer === undefined) throw new Error(`${method} was not answered`);
    return answer;
  }

  uri(name: string): string {
    return pathToFileURL(join(this.folder, name)).href;
  }

  open(name: string, text: string): void {
    this.tell('textDocument/didOpen', { textDocument: { uri: this.uri(name), text } });
  }

  change(name: string, text: string): void {
    const textDocument = { uri: this.uri(name) };
    this.tell('textDocument/didChange', { textDocument, contentChanges: [{ text }] });
  }

  /** About a place of a file; `position` as offset into a text. */
  at(method: string, name: string, text: string, offset: number, more: object = {}): unknown {
    const before = text.slice(0, offset).split('\n');
    const position = { line: before.length - 1, character: before.at(-1)!.length };
    const params = { textDocument: { uri: this.uri(name) }, position, ...more };
    return this.ask(`textDocument/${method}`, params).result;
  }

  diagnostics(name: string): Told[] {
    return this.#diagnostics.get(this.uri(name)) ?? [];
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
