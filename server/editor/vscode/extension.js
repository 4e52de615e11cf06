// The extension: starts `trellis lsp` in a workspace that is a project of ours, and hands on what VS Code asks. A
// client of its own, for the protocol's other client is fifty times the size of all of this.
const { spawn } = require('node:child_process');
const vscode = require('vscode');
const { commandFor, isOfProject, isProject } = require('./project.js');

const language = 'helixql';
const separator = '\r\n\r\n';

/** A session with the language server: requests by number, notices by name. */
class Session {
  #pending = Buffer.alloc(0);
  #waiting = new Map();
  #lastId = 0;

  constructor(child, onNotice) {
    this.child = child;
    this.onNotice = onNotice;
    child.stdout.on('data', (bytes) => this.#read(bytes));
    child.on('exit', () => this.#giveUp());
    child.on('error', () => this.#giveUp());
    child.stdin.on('error', () => undefined);
  }

  #giveUp() {
    for (const resolve of this.#waiting.values()) resolve(null);
    this.#waiting.clear();
  }

  #read(bytes) {
    this.#pending = Buffer.concat([this.#pending, bytes]);
    for (;;) {
      const head = this.#pending.indexOf(separator);
      if (head < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(this.#pending.toString('latin1', 0, head))[1]);
      const start = head + separator.length;
      if (this.#pending.length < start + length) return;
      this.#hear(JSON.parse(this.#pending.toString('utf8', start, start + length)));
      this.#pending = this.#pending.subarray(start + length);
    }
  }

  #hear({ id, method, params, result }) {
    if (id === undefined) return this.onNotice(method, params);
    this.#waiting.get(id)?.(result ?? null);
    this.#waiting.delete(id);
  }

  tell(method, params) {
    this.#send({ jsonrpc: '2.0', method, params });
  }

  ask(method, params) {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ jsonrpc: '2.0', id, method, params });
    });
  }

  #send(message) {
    const text = JSON.stringify(message);
    this.child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}${separator}${text}`);
  }
}

const rangeOf = ({ start, end }) =>
  new vscode.Range(start.line, start.character, end.line, end.character);
const locationOf = ({ uri, range }) => new vscode.Location(vscode.Uri.parse(uri), rangeOf(range));
const editOf = ({ range, newText }) => new vscode.TextEdit(rangeOf(range), newText);

function diagnosticOf({ range, message, severity, code, source }) {
  const diagnostic = new vscode.Diagnostic(rangeOf(range), message, severity - 1);
  return Object.assign(diagnostic, { code, source });
}

function workspaceEdit(changes) {
  const edit = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(changes))
    for (const { range, newText } of edits) edit.replace(vscode.Uri.parse(uri), rangeOf(range), newText);
  return edit;
}

function symbolOf({ name, detail, kind, range, selectionRange, children = [] }) {
  const [whole, at] = [rangeOf(range), rangeOf(selectionRange)];
  const symbol = new vscode.DocumentSymbol(name, detail ?? '', kind - 1, whole, at);
  symbol.children = children.map(symbolOf);
  return symbol;
}

/** Everything that VS Code may ask about a document. */
function register(session, legend) {
  const about = (document, position, more) => ({
    textDocument: { uri: document.uri.toString() },
    ...(position && { position: { line: position.line, character: position.character } }),
    ...more,
  });
  const ask = (method, ...given) => session.ask(`textDocument/${method}`, about(...given));
  const at = { language };
  const { languages } = vscode;
  return [
    languages.registerHoverProvider(at, {
      provideHover: async (document, position) => {
        const hover = await ask('hover', document, position);
        return hover && new vscode.Hover(new vscode.MarkdownString(hover.contents.value), rangeOf(hover.range));
      },
    }),
    languages.registerCompletionItemProvider(
      at,
      {
        provideCompletionItems: async (document, position) =>
          ((await ask('completion', document, position)) ?? []).map((item) =>
            Object.assign(new vscode.CompletionItem(item.label, item.kind - 1), {
              detail: item.detail,
              sortText: item.sortText,
            }),
          ),
      },
      ...[':', '<', '{', '('],
    ),
    languages.registerDefinitionProvider(at, {
      provideDefinition: async (...place) => (await ask('definition', ...place))?.map(locationOf),
    }),
    languages.registerReferenceProvider(at, {
      provideReferences: async (document, position, context) =>
        (await ask('references', document, position, { context }))?.map(locationOf),
    }),
    languages.registerRenameProvider(at, {
      prepareRename: async (...place) => {
        const found = await ask('prepareRename', ...place);
        if (found === null) throw new Error('This has no name of its own.');
        return { range: rangeOf(found.range), placeholder: found.placeholder };
      },
      provideRenameEdits: async (document, position, newName) => {
        const done = await ask('rename', document, position, { newName });
        return done && workspaceEdit(done.changes);
      },
    }),
    languages.registerDocumentSymbolProvider(at, {
      provideDocumentSymbols: async (document) => (await ask('documentSymbol', document))?.map(symbolOf),
    }),
    languages.registerDocumentFormattingEditProvider(at, {
      provideDocumentFormattingEdits: async (document) => (await ask('formatting', document))?.map(editOf),
    }),
    languages.registerFoldingRangeProvider(at, {
      provideFoldingRanges: async (document) =>
        (await ask('foldingRange', document))?.map(
          ({ startLine, endLine }) => new vscode.FoldingRange(startLine, endLine),
        ),
    }),
    languages.registerInlayHintsProvider(at, {
      provideInlayHints: async (document) =>
        ((await ask('inlayHint', document)) ?? []).map(
          ({ position: { line, character }, label }) =>
            new vscode.InlayHint(new vscode.Position(line, character), label, 1),
        ),
    }),
    languages.registerCodeActionsProvider(at, {
      provideCodeActions: async (document, _range, { diagnostics }) => {
        const context = { diagnostics: diagnostics.map(({ range, message }) => ({ range, message })) };
        return ((await ask('codeAction', document, undefined, { context })) ?? []).map((action) => {
          const made = new vscode.CodeAction(action.title, vscode.CodeActionKind.QuickFix);
          return Object.assign(made, { edit: workspaceEdit(action.edit.changes), isPreferred: true });
        });
      },
    }),
    languages.registerDocumentSemanticTokensProvider(
      at,
      {
        provideDocumentSemanticTokens: async (document) =>
          new vscode.SemanticTokens(
            new Uint32Array((await ask('semanticTokens/full', document))?.data ?? []),
          ),
      },
      new vscode.SemanticTokensLegend(legend.tokenTypes, legend.tokenModifiers),
    ),
    languages.registerCodeLensProvider(at, { provideCodeLenses: lenses }),
  ];
}

/** "Run" above each query. */
function lenses(document) {
  return [...document.getText().matchAll(/^QUERY +(\w+)/gm)].map((match) => {
    const place = document.positionAt(match.index);
    const command = { title: 'Run this query', command: 'trellis.runQuery', arguments: [match[1]] };
    return new vscode.CodeLens(new vscode.Range(place, place), command);
  });
}

/** In a terminal, which shows the table; parameters are asked for there. */
async function runQuery(command, name) {
  const words = await vscode.window.showInputBox({ prompt: `${name}: arguments, as name=value` });
  if (words === undefined) return;
  const terminal = vscode.window.createTerminal('TrellisDB');
  terminal.show();
  const [program, ...rest] = command;
  const quoted = /^[\w./:\\-]+$/.test(program) ? program : `"${program}"`;
  terminal.sendText([quoted, ...rest, 'query', name, words].join(' ').trim());
}

/** Sources of projects are ours; other files of this ending stay what they are. */
function claim(folder, document) {
  const { languageId, fileName = '' } = document;
  if (languageId === language || !fileName.endsWith('.hx') || !isOfProject(folder, fileName)) return;
  void vscode.languages.setTextDocumentLanguage(document, language);
}

async function activate(context) {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const cwd = folders.find(isProject);
  if (cwd === undefined) return;
  const settings = vscode.workspace.getConfiguration('trellis');
  const command = commandFor(cwd, settings.get('command'));
  const faults = vscode.languages.createDiagnosticCollection(language);
  const child = spawn(command[0], [...command.slice(1), 'lsp'], {
    cwd,
    // Windows runs `.cmd` files in a shell only.
    shell: command[0].endsWith('.cmd'),
  });
  const session = new Session(child, (method, params) => {
    if (method !== 'textDocument/publishDiagnostics') return;
    faults.set(vscode.Uri.parse(params.uri), params.diagnostics.map(diagnosticOf));
  });
  const started = await session.ask('initialize', {
    capabilities: {},
    initializationOptions: { inlayHints: settings.get('inlayHints') },
  });
  if (started === null) {
    vscode.window.showErrorMessage(`TrellisDB: ${command.join(' ')} lsp does not start.`);
    return;
  }
  session.tell('initialized', {});
  const open = (document) => {
    claim(cwd, document);
    if (document.languageId !== language) return;
    const textDocument = { uri: document.uri.toString(), text: document.getText() };
    session.tell('textDocument/didOpen', { textDocument });
  };
  const about = ({ uri }) => ({ textDocument: { uri: uri.toString() } });
  const isOurs = (document) => document.languageId === language;
  vscode.workspace.textDocuments.forEach(open);
  context.subscriptions.push(
    faults,
    vscode.workspace.onDidOpenTextDocument(open),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (!isOurs(document)) return;
      const contentChanges = [{ text: document.getText() }];
      session.tell('textDocument/didChange', { ...about(document), contentChanges });
    }),
    vscode.workspace.onDidSaveTextDocument((document) => {
      if (isOurs(document)) session.tell('textDocument/didSave', about(document));
    }),
    vscode.workspace.onDidCloseTextDocument((document) => {
      if (isOurs(document)) session.tell('textDocument/didClose', about(document));
    }),
    vscode.commands.registerCommand('trellis.runQuery', (name) => runQuery(command, name)),
    ...register(session, started.capabilities.semanticTokensProvider.legend),
    { dispose: () => session.ask('shutdown', null).then(() => session.tell('exit', null)) },
  );
}

module.exports = { activate, deactivate: () => undefined };
