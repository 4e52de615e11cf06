// The VS Code extension against a VS Code that is made up: it starts the real server, hands on what is asked
// and shows what comes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { root } from '../support/project.js';

const folder = join(root, 'server/editor/vscode');
const main = join(root, 'dist/bin/main.js');
const queries = 'QUERY all() =>\n    p <- N<Persn>\n    RETURN p\n';

// biome-ignore lint/suspicious/noExplicitAny: a stand-in for a large interface.
type Any = any;

function madeUp(workspace: string) {
  const providers = new Map<string, Any>();
  const shown = new Map<string, Any[]>();
  const languages = new Proxy(
    {},
    {
      get: (_, name: string) =>
        name === 'createDiagnosticCollection'
          ? () => ({ set: (uri: string, list: Any[]) => shown.set(String(uri), list) })
          : (_selector: unknown, provider: Any) => providers.set(name, provider),
    },
  );
  const document = {
    languageId: 'helixql',
    uri: pathToFileURL(join(workspace, 'queries.hx')).href,
    getText: () => queries,
    positionAt: (offset: number) => ({ line: queries.slice(0, offset).split('\n').length - 1 }),
  };
  const held = class {
    readonly given: unknown[];
    constructor(...given: unknown[]) {
      this.given = given;
    }
  };
  const vscode = new Proxy(
    {
      languages,
      Uri: { parse: (text: string) => text },
      CodeActionKind: { QuickFix: 'quickfix' },
      commands: { registerCommand: () => ({}) },
      window: { showErrorMessage: (text: string) => expect.fail(text) },
      workspace: {
        getConfiguration: () => ({
          get: (name: string) => (name === 'command' ? [process.execPath, main] : false),
        }),
        workspaceFolders: [{ uri: { fsPath: workspace } }],
        textDocuments: [document],
        onDidOpenTextDocument: () => ({}),
        onDidChangeTextDocument: () => ({}),
        onDidSaveTextDocument: () => ({}),
        onDidCloseTextDocument: () => ({}),
      },
    } as Record<string, unknown>,
    { get: (known, name: string) => known[name] ?? held },
  );
  return { vscode, providers, shown, document };
}

test('W08 the extension for VS Code', { timeout: 30_000 }, async () => {
  const workspace = mkdtempSync(join(tmpdir(), 'trellis-vscode-'));
  writeFileSync(join(workspace, 'schema.hx'), 'N::Person { name: String }\n');
  writeFileSync(join(workspace, 'queries.hx'), queries);
  const { vscode, providers, shown, document } = madeUp(workspace);
  const load = createRequire(import.meta.url)('node:module') as Any;
  const original = load._load;
  load._load = (name: string, ...rest: unknown[]) =>
    name === 'vscode' ? vscode : original(name, ...rest);
  const context = { subscriptions: [] as Any[] };
  try {
    const compiled = new load(join(folder, 'extension.js'));
    compiled.paths = [];
    compiled._compile(readFileSync(join(folder, 'extension.js'), 'utf8'), 'extension.js');
    await compiled.exports.activate(context);
    expect(providers.size).toBe(12);
    const hover = providers.get('registerHoverProvider');
    const found = await hover.provideHover(document, { line: 2, character: 12 });
    expect(found.given[0].given[0]).toContain('p');
    const [fault] = shown.get(document.uri)!;
    expect([fault.code, fault.given[1]]).toEqual(['E101', expect.stringContaining('Persn')]);
    const symbols = providers.get('registerDocumentSymbolProvider');
    const [symbol] = await symbols.provideDocumentSymbols(document);
    expect(symbol.given[0]).toBe('all');
    const [lens] = providers.get('registerCodeLensProvider').provideCodeLenses(document);
    expect(lens.given[1]).toMatchObject({ command: 'trellis.runQuery', arguments: ['all'] });
  } finally {
    load._load = original;
    await context.subscriptions.at(-1)?.dispose();
    rmSync(workspace, { recursive: true, force: true });
  }
});

test('what the extension contributes is there', () => {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const [language] = manifest.contributes.languages;
  expect(manifest.contributes.grammars[0].language).toBe(language.id);
  JSON.parse(readFileSync(join(folder, language.configuration), 'utf8'));
  const command = manifest.contributes.commands[0].command;
  expect(readFileSync(join(folder, manifest.main), 'utf8')).toContain(`'${command}'`);
});
