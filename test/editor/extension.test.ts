// The VS Code extension against a VS Code that is made up: it starts the real server, hands on what is asked
// and shows what comes.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { makeFolder, root } from '../support/project.js';

const folder = join(root, 'server/editor/vscode');
const main = join(root, 'dist/bin/main.js');
const queries = 'QUERY all() =>\n    p <- N<Persn>\n    RETURN p\n';

// biome-ignore lint/suspicious/noExplicitAny: a stand-in for a large interface.
type Any = any;

function madeUp(workspace: string, languageId = 'helixql') {
  const claimed: string[] = [];
  const providers = new Map<string, Any>();
  const shown = new Map<string, Any[]>();
  const languages = new Proxy(
    {},
    {
      get: (_, name: string) =>
        name === 'setTextDocumentLanguage'
          ? (document: Any, to: string) => claimed.push(`${document.fileName} ${to}`)
          : name === 'createDiagnosticCollection'
            ? () => ({ set: (uri: string, list: Any[]) => shown.set(String(uri), list) })
            : (_selector: unknown, provider: Any) => providers.set(name, provider),
    },
  );
  const document = {
    languageId,
    fileName: join(workspace, 'queries.hx'),
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
  return { vscode, providers, shown, document, claimed };
}

/** Runs the extension in the made-up VS Code. */
async function activated(vscode: unknown, work: () => Promise<void>): Promise<void> {
  const load = createRequire(import.meta.url)('node:module') as Any;
  const original = load._load;
  load._load = (name: string, ...rest: unknown[]) =>
    name === 'vscode' ? vscode : original(name, ...rest);
  const context = { subscriptions: [] as Any[] };
  try {
    const file = join(folder, 'extension.js');
    const compiled = new load(file);
    compiled.filename = file;
    compiled.paths = [];
    compiled._compile(readFileSync(file, 'utf8'), file);
    await compiled.exports.activate(context);
    await work();
  } finally {
    load._load = original;
    await context.subscriptions.at(-1)?.dispose();
  }
}

test('W08 the extension for VS Code', async () => {
  const workspace = mkdtempSync(join(tmpdir(), 'trellis-vscode-'));
  writeFileSync(join(workspace, 'trellis.toml'), '');
  writeFileSync(join(workspace, 'schema.hx'), 'N::Person { name: String }\n');
  writeFileSync(join(workspace, 'queries.hx'), queries);
  const { vscode, providers, shown, document } = madeUp(workspace);
  await activated(vscode, async () => {
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
  });
  rmSync(workspace, { recursive: true, force: true });
});

/** Files of a folder, and whether it looks like a project of ours. */
const folders: [files: Record<string, string>, isOurs: boolean][] = [
  [{ 'Main.hx': 'class Main {}' }, false],
  [{ 'Main.hx': 'class Main {}', 'package.json': '{"dependencies":{"trellis":"1.0.0"}}' }, false],
  [{ 'Main.hx': '', 'node_modules/trellis/package.json': '{}' }, false],
  [{ 'package.json': '{' }, false],
  [{ 'trellis.toml': '' }, true],
  [{ 'helix.toml': '' }, true],
  [{ 'config.hx.json': '{}' }, true],
  [{ 'package.json': '{"devDependencies":{"trellisdb":"1.0.0"}}' }, true],
  [{ 'node_modules/trellisdb/package.json': '{}' }, true],
];
test.each(folders)('a folder with %j is ours: %s', async (files, isOurs) => {
  const workspace = makeFolder();
  for (const [name, text] of Object.entries({ ...files, 'queries.hx': queries })) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), text);
  }
  // A file of this ending is Haxe's until a project claims it.
  const { vscode, providers, claimed, document } = madeUp(workspace, 'haxe');
  await activated(vscode, async () => {
    expect(providers.size).toBe(isOurs ? 12 : 0);
    expect(claimed).toEqual(isOurs ? [`${document.fileName} helixql`] : []);
  });
});

test('it starts the program of the project, else the package, and never one of another name', () => {
  const { commandFor } = createRequire(import.meta.url)(join(folder, 'project.js')) as Any;
  const workspace = makeFolder();
  expect(commandFor(workspace, [], 'linux')).toEqual(['npx', '--no-install', 'trellisdb']);
  expect(commandFor(workspace, undefined, 'win32')[0]).toBe('npx.cmd');
  mkdirSync(join(workspace, 'node_modules/.bin'), { recursive: true });
  const own = join(workspace, 'node_modules/.bin/trellis');
  writeFileSync(own, '');
  expect(commandFor(workspace, [], 'linux')).toEqual([own]);
  expect(commandFor(workspace, ['my', 'own'], 'linux')).toEqual(['my', 'own']);
});

test('what the extension contributes is there', () => {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const [language] = manifest.contributes.languages;
  expect(manifest.contributes.grammars[0].language).toBe(language.id);
  JSON.parse(readFileSync(join(folder, language.configuration), 'utf8'));
  const command = manifest.contributes.commands[0].command;
  expect(readFileSync(join(folder, manifest.main), 'utf8')).toContain(`'${command}'`);
  // Neither a file of Haxe nor a folder that was fetched starts a program.
  expect(language.extensions).toBeUndefined();
  expect(manifest.activationEvents.join()).not.toContain('onLanguage');
  expect(manifest.capabilities.untrustedWorkspaces.supported).toBe(false);
  expect(manifest.contributes.configuration.properties['trellis.command'].scope).toBe('machine');
});
