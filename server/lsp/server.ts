// The language server: one session with an editor. Owns the open documents and their projects. Invariant:
// every request gets a response. No message of an editor except `exit` ends the process.
import { DefectError } from '../../engine/internal.js';
import { codeActions } from './code-action.js';
import * as file from './file-answer.js';
import { FrameReader, frameOf } from './frame.js';
import * as name from './name-answer.js';
import type { Position, Range } from './position.js';
import { pathOf, type DocumentFile, Project, projectOf } from './project.js';

interface Params {
  textDocument?: { uri?: string; text?: string };
  contentChanges?: { text: string }[];
  position?: Position;
  newName?: string;
  query?: string;
  context?: { includeDeclaration?: boolean; diagnostics?: { range: Range; message: string }[] };
  initializationOptions?: { inlayHints?: boolean };
}
interface Message {
  id?: number | string | null;
  method?: string;
  params?: Params;
}

const errors = { parse: -32700, method: -32601, internal: -32603 };

const capabilities = {
  positionEncoding: 'utf-16',
  /** Documents are sent as whole texts, because sources are small. */
  textDocumentSync: { openClose: true, change: 1, save: true },
  hoverProvider: true,
  completionProvider: { triggerCharacters: [':', '<', '{', '('] },
  definitionProvider: true,
  referencesProvider: true,
  renameProvider: { prepareProvider: true },
  documentSymbolProvider: true,
  workspaceSymbolProvider: true,
  documentFormattingProvider: true,
  foldingRangeProvider: true,
  codeActionProvider: { codeActionKinds: ['quickfix'] },
  inlayHintProvider: true,
  semanticTokensProvider: {
    legend: file.tokenLegend,
    full: true,
  },
};

export interface LanguageServerOptions {
  version: string;
  write: (frame: string) => void;
  /** True after the end of the session. */
  onExit: (code: number) => void;
}

export class LanguageServer {
  readonly #reader = new FrameReader();
  readonly #projects = new Map<string, Project>();
  /** Files for which the editor shows diagnostics, by project. */
  readonly #shown = new Map<Project, Set<string>>();
  #inlayHints = false;
  #isShutDown = false;

  constructor(private readonly options: LanguageServerOptions) {}

  receive(bytes: Uint8Array): void {
    let messages: unknown[];
    try {
      messages = this.#reader.push(bytes);
    } catch {
      return this.options.onExit(1);
    }
    for (const message of messages) this.#handle(message);
  }

  #handle(message: unknown): void {
    if (typeof message !== 'object' || message === null || Array.isArray(message)) {
      return this.#fail(null, errors.parse, 'This is no message.');
    }
    const { id, method, params = {} } = message as Message;
    // A response to a request of this server, which sends none.
    if (typeof method !== 'string') return;
    try {
      if (id === undefined) return this.#notice(method, params);
      const result = this.#answer(method, params);
      if (result === undefined) this.#fail(id, errors.method, `There is no ${method}.`);
      else this.#send({ id, result });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      const what = error instanceof DefectError ? `defect: ${text}` : text;
      if (id !== undefined) this.#fail(id, errors.internal, what);
    }
  }

  #send(message: object): void {
    this.options.write(frameOf(message));
  }

  #fail(id: Message['id'], code: number, message: string): void {
    this.#send({ id, error: { code, message } });
  }

  #notice(method: string, params: Params): void {
    const { textDocument, contentChanges } = params;
    switch (method) {
      case 'exit':
        return this.options.onExit(this.#isShutDown ? 0 : 1);
      case 'textDocument/didOpen':
        return this.#change(textDocument?.uri, textDocument?.text ?? '');
      case 'textDocument/didChange':
        return this.#change(textDocument?.uri, contentChanges?.at(-1)?.text ?? '');
      case 'textDocument/didClose':
        return this.#change(textDocument?.uri, undefined);
      case 'textDocument/didSave':
      case 'workspace/didChangeWatchedFiles':
        for (const project of this.#projects.values()) {
          project.clear();
          this.#publish(project);
        }
        return;
      default:
    }
  }

  #change(uri: string | undefined, text: string | undefined): void {
    const document = this.#documentOf(uri);
    if (document === undefined) return;
    document.project.setText(document.path, text);
    this.#publish(document.project);
  }

  #documentOf(uri: string | undefined): DocumentFile | undefined {
    const path = uri === undefined ? undefined : pathOf(uri);
    if (path === undefined) return undefined;
    const folder = projectOf(path);
    let project = this.#projects.get(folder);
    if (project === undefined) {
      project = new Project(folder);
      this.#projects.set(folder, project);
    }
    return { project, path: project.pathIn(path) };
  }

  #publish(project: Project): void {
    const before = this.#shown.get(project) ?? new Set();
    const { analysis } = project;
    const faulty = new Set(analysis.diagnostics.map((each) => each.file));
    for (const path of new Set([...before, ...faulty])) {
      const diagnostics = file.diagnosticsOf({ project, path });
      const params = { uri: project.uriOf(path), diagnostics };
      this.#send({ method: 'textDocument/publishDiagnostics', params });
    }
    this.#shown.set(project, faulty);
  }

  /** Returns undefined for an unknown method. */
  #answer(method: string, params: Params): unknown {
    switch (method) {
      case 'initialize':
        this.#inlayHints = params.initializationOptions?.inlayHints === true;
        return { capabilities, serverInfo: { name: 'trellis', version: this.options.version } };
      case 'shutdown':
        this.#isShutDown = true;
        return null;
      case 'workspace/symbol':
        return file.workspaceSymbols(this.#projects.values(), params.query ?? '');
      default:
        return method.startsWith('textDocument/')
          ? this.#answerDocument(method, params)
          : undefined;
    }
  }

  #answerDocument(method: string, params: Params): unknown {
    const document = this.#documentOf(params.textDocument?.uri);
    const { position = { line: 0, character: 0 }, context = {} } = params;
    if (document === undefined) return null;
    switch (method.slice('textDocument/'.length)) {
      case 'hover':
        return name.hover(document, position);
      case 'completion':
        return name.completions(document, position);
      case 'definition':
        return name.definition(document, position);
      case 'references':
        return name.references(document, position, context.includeDeclaration !== false);
      case 'prepareRename':
        return name.prepareRename(document, position);
      case 'rename':
        return name.rename(document, position, params.newName ?? '');
      case 'documentSymbol':
        return file.documentSymbols(document);
      case 'formatting':
        return file.formatting(document);
      case 'foldingRange':
        return file.folding(document);
      case 'semanticTokens/full':
        return file.semanticTokens(document);
      case 'codeAction':
        return codeActions(params.textDocument!.uri!, context.diagnostics ?? []);
      case 'inlayHint':
        return this.#inlayHints ? file.inlayHints(document) : [];
      default:
        return undefined;
    }
  }
}
