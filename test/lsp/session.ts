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

export class Editor {
  readonly folder = mkdtempSync(join(tmpdir(), 'trellis-lsp-'));
  readonly notices: Sent[] = [];
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
    if (message.id === undefined) this.notices.push(message);
    else this.#answers.set(message.id, message);
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

  diagnostics(name: string): { range: object; code: string; message: string }[] {
    const last = this.notices.filter(({ params }) => params?.uri === this.uri(name)).at(-1);
    return last?.params.diagnostics ?? [];
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
