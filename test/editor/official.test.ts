// The grammar as editors run it, and the language server as they speak to it: `vscode-textmate` finds what
// our own reading of the grammar does, and a client of `vscode-languageserver-protocol` gets an answer
// to everything, and the faults of `trellis check`. Their packages are installed by long tests only.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { examplesText, gardenText } from '../lang/garden.js';
import { type Packages, packages } from '../support/packages.js';
import { makeFolder, root } from '../support/project.js';
import { runCli } from '../support/server/server.js';
import { corpusProjects } from '../support/source-mutation.js';
import { trackedFiles } from '../support/source-tree.js';
import { type Grammar, scopesOf } from './textmate.js';

const found = await packages(
  'vscode-textmate@9.3.2',
  'vscode-oniguruma@2.0.1',
  'vscode-languageserver-protocol@3.18.5',
);
if (typeof found === 'string') console.log(`editors' own packages are not asked: ${found}`);
const nothing: Packages = { folder: '', load: async () => undefined };
const { folder, load } = typeof found === 'string' ? nothing : found;

// biome-ignore lint/suspicious/noExplicitAny: what others export is theirs to type
type Any = any;

describe.skipIf(typeof found === 'string')('official', () => {
  test('W11 vscode-textmate finds the scopes that our reading of the grammar finds', async () => {
    const { default: textmate } = await load('vscode-textmate/release/main.js');
    const { default: oniguruma } = await load('vscode-oniguruma/release/main.js');
    const wasm = readFileSync(join(folder, 'node_modules/vscode-oniguruma/release/onig.wasm'));
    await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length));
    const path = join(root, 'server/editor/helixql.tmLanguage.json');
    const text = readFileSync(path, 'utf8');
    const registry = new textmate.Registry({
      onigLib: {
        createOnigScanner: (patterns: string[]) => new oniguruma.OnigScanner(patterns),
        createOnigString: (value: string) => new oniguruma.OnigString(value),
      },
      loadGrammar: async () => textmate.parseRawGrammar(text, path),
    });
    const grammar = await registry.loadGrammar('source.helixql');
    const own = JSON.parse(text) as Grammar;
    const files = trackedFiles().filter((file) => file.endsWith('.hx'));
    const sources = [
      ...files.map((file) => readFileSync(join(root, file), 'utf8')),
      ...corpusProjects().flatMap(({ schema, queries }) => [schema, queries]),
    ];
    let told = 0;
    for (const source of new Set(sources)) {
      const ours = new Array<string>(source.length).fill('source.helixql');
      for (const { start, end, scope } of scopesOf(own, source)) ours.fill(scope, start, end);
      let [state, offset]: [Any, number] = [textmate.INITIAL, 0];
      for (const line of source.split(/(?<=\n)/)) {
        const bare = line.replace(/\r?\n$/, '');
        const { tokens, ruleStack } = grammar.tokenizeLine(bare, state);
        state = ruleStack;
        for (const { startIndex, endIndex, scopes } of tokens) {
          for (let at = startIndex; at < Math.min(endIndex, bare.length); at++) {
            if (!/\S/.test(bare[at]!)) continue;
            expect([at, bare, ours[offset + at]]).toEqual([at, bare, scopes.at(-1)]);
            told++;
          }
        }
        offset += line.length;
      }
    }
    expect(told).toBeGreaterThan(50_000);
  });

  describe('W08 vscode-languageserver-protocol over stdio', () => {
    const project = makeFolder();
    const child = spawn(process.execPath, [join(root, 'dist/bin/main.js'), 'lsp', '--stdio']);
    const uri = (name: string): string => pathToFileURL(join(project, name)).href;
    const diagnostics = new Map<string, Any[]>();
    let protocol: Any;
    let connection: Any;
    let version = 1;
    beforeAll(async () => {
      writeFileSync(join(project, 'trellis.toml'), '');
      writeFileSync(join(project, 'garden.hx'), gardenText);
      writeFileSync(join(project, 'q.hx'), examplesText);
      ({ default: protocol } = await load('vscode-languageserver-protocol/lib/node/main.js'));
      const { StreamMessageReader, StreamMessageWriter } = protocol;
      connection = protocol.createProtocolConnection(
        new StreamMessageReader(child.stdout),
        new StreamMessageWriter(child.stdin),
      );
      connection.onNotification('textDocument/publishDiagnostics', (told: Any) => {
        diagnostics.set(told.uri, told.diagnostics);
      });
      connection.listen();
      const workspaceFolders = [{ uri: pathToFileURL(project).href, name: 'garden' }];
      await connection.sendRequest(protocol.InitializeRequest.type, {
        processId: process.pid,
        rootUri: workspaceFolders[0]!.uri,
        workspaceFolders,
        capabilities: {},
        initializationOptions: { inlayHints: true },
      });
      await connection.sendNotification(protocol.InitializedNotification.type, {});
      await open('garden.hx', gardenText);
      await open('q.hx', examplesText);
    });
    afterAll(async () => {
      await connection.sendRequest(protocol.ShutdownRequest.type);
      const ended = new Promise((resolve) => child.once('close', resolve));
      await connection.sendNotification(protocol.ExitNotification.type);
      expect(await ended).toBe(0);
      connection.dispose();
    });

    const open = (name: string, text: string): Promise<void> =>
      connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
        textDocument: { uri: uri(name), languageId: 'helixql', version: version++, text },
      });
    const change = (name: string, text: string): Promise<void> =>
      connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, {
        textDocument: { uri: uri(name), version: version++ },
        contentChanges: [{ text }],
      });

    /** Asks a feature, at the place of the first match of a piece of the examples where it has one. */
    async function ask(request: string, piece?: RegExp, more: object = {}): Promise<Any> {
      const offset = piece === undefined ? 0 : examplesText.search(piece) + 1;
      const before = examplesText.slice(0, offset).split('\n');
      const position = { line: before.length - 1, character: before.at(-1)!.length };
      const params = { textDocument: { uri: uri('q.hx') }, position, ...more };
      return connection.sendRequest(protocol[`${request}Request`].type, params);
    }

    test('each feature answers on the garden', async () => {
      const type = /(?<=N<)Gardener/;
      expect(JSON.stringify((await ask('Hover', type)).contents)).toContain('N::Gardener');
      expect((await ask('Definition', type))[0].uri).toBe(uri('garden.hx'));
      const references = await ask('References', type, { context: { includeDeclaration: true } });
      expect(references.length).toBeGreaterThan(5);
      expect((await ask('PrepareRename', type)).placeholder).toBe('Gardener');
      const { changes } = await ask('Rename', type, { newName: 'Human' });
      expect(Object.keys(changes).sort()).toEqual([uri('garden.hx'), uri('q.hx')]);
      expect(Object.values<Any[]>(changes).flat()).toHaveLength(references.length);
      const completed = await ask('Completion', type);
      const items: Any[] = completed.items ?? completed;
      expect(items.map(({ label }) => label)).toContain('Gardener');
      const symbols: Any[] = await ask('DocumentSymbol');
      expect(symbols.length).toBe(examplesText.match(/^QUERY /gm)!.length);
      const everywhere = await connection.sendRequest(protocol.WorkspaceSymbolRequest.type, {
        query: 'Gardener',
      });
      expect(everywhere.length).toBeGreaterThan(0);
      expect((await ask('FoldingRange')).length).toBeGreaterThan(5);
      expect((await ask('SemanticTokens')).data.length).toBeGreaterThan(100);
      const whole = { start: { line: 0, character: 0 }, end: { line: 9_999, character: 0 } };
      expect((await ask('InlayHint', undefined, { range: whole })).length).toBeGreaterThan(5);
      const options = { tabSize: 4, insertSpaces: true };
      expect(Array.isArray(await ask('DocumentFormatting', undefined, { options }))).toBe(true);
    });

    test('diagnostics are those of trellis check, to the column, and offer their correction', async () => {
      const faulty = examplesText
        .replaceAll('N<Gardener>', 'N<Gardner>')
        .replaceAll('::Out<', '::Ot<')
        .replace('RETURN', 'RETRUN');
      await change('q.hx', faulty);
      writeFileSync(join(project, 'q.hx'), faulty);
      const { stdout } = await runCli(['check', project, '--json']);
      const checked: Any[] = JSON.parse(stdout).diagnostics;
      expect(checked.length).toBeGreaterThan(10);
      // An answer comes behind what was told before it.
      await ask('DocumentSymbol');
      const shown = diagnostics.get(uri('q.hx'))!;
      const placeOf = ({ line, column, endLine, endColumn }: Any) => [
        [line - 1, column - 1],
        [endLine - 1, endColumn - 1],
      ];
      expect(
        shown.map(({ code, severity, range: { start, end } }) => [
          code,
          severity,
          [start.line, start.character],
          [end.line, end.character],
        ]),
      ).toEqual(
        checked
          .filter(({ file }) => file === 'q.hx')
          .map((one) => [one.code, one.severity === 'error' ? 1 : 2, ...placeOf(one)]),
      );
      const context = { diagnostics: shown };
      const range = shown[0].range;
      const actions: Any[] = await ask('CodeAction', undefined, { context, range });
      expect(actions.length).toBeGreaterThan(0);
      await change('q.hx', examplesText);
      await ask('DocumentSymbol');
      expect(diagnostics.get(uri('q.hx'))).toEqual([]);
    });
  });
});
