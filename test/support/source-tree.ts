// Reads the project's own sources: files, imports, exports, functions and calls. A file is read at most once
// per test process, and the TypeScript compiler parses it only when a test needs its tree or its imports.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { root } from './project.js';

export interface SourceFile {
  /** From the project root, e.g. `engine/base/id.ts`. */
  path: string;
  text: string;
  lines: string[];
  readonly tree: ts.SourceFile;
  /** Imported modules: project paths of relative imports, package names of others. */
  readonly imports: { from: string; typeOnly: boolean; line: number }[];
}

function* filesBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    // bench/peers holds what the benches installed for themselves, .trellis what servers store.
    if (entry.name === 'peers' || entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (/\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts')) yield path;
  }
}

/** Every file below the project's folders, as they are found in a clone and while one works on it. */
export function trackedFiles(): string[] {
  const found: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.name === 'peers' || entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) visit(path);
      else found.push(path);
    }
  };
  for (const folder of ['engine', 'wasm', 'server', 'bench', 'test']) visit(folder);
  return found;
}

/** `../plan/plan.js` imported by engine/exec/run.ts is engine/plan/plan.ts. */
export function resolveImport(path: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  const found = normalize(join(dirname(path), specifier)).replace(/\.js$/, '.ts');
  return existsSync(join(root, `${found}x`)) ? `${found}x` : found;
}

/** A value import whose names are all types counts as type-only. */
function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  const clause = node.importClause;
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  const named = clause.namedBindings;
  if (clause.name !== undefined || named === undefined || !ts.isNamedImports(named)) return false;
  return named.elements.every((element) => element.isTypeOnly);
}

/** `import(…)`, `require(…)`. */
const isLoad = (called: ts.Expression): boolean =>
  called.kind === ts.SyntaxKind.ImportKeyword ||
  (ts.isIdentifier(called) && called.text === 'require');

function importsOf(path: string, tree: ts.SourceFile): SourceFile['imports'] {
  const found: SourceFile['imports'] = [];
  const add = (node: ts.Node, specifier: ts.Expression | undefined, typeOnly: boolean) => {
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return;
    const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
    found.push({ from: resolveImport(path, specifier.text), typeOnly, line: line + 1 });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node))
      add(node, node.moduleSpecifier, isTypeOnly(node));
    else if (ts.isCallExpression(node) && isLoad(node.expression))
      add(node, node.arguments[0], false);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node, node.argument.literal as ts.Expression, true);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

const known = new Map<string, SourceFile>();

function readSource(path: string): SourceFile {
  const before = known.get(path);
  if (before !== undefined) return before;
  const text = readFileSync(join(root, path), 'utf8');
  const lines = text.replace(/\n$/, '').split('\n');
  let tree: ts.SourceFile | undefined;
  let imports: SourceFile['imports'] | undefined;
  const source: SourceFile = {
    path,
    text,
    lines,
    get tree() {
      return (tree ??= ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true));
    },
    get imports() {
      return (imports ??= importsOf(path, this.tree));
    },
  };
  known.set(path, source);
  return source;
}

/** All TypeScript files below the folders, by path. */
export function readSources(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) => [...filesBelow(folder)].sort().map(readSource));
}

interface Func {
  name: string;
  line: number;
  length: number;
  /** A generator that every call of a surrounding function creates again. */
  isInnerGenerator: boolean;
}

/** Functions, methods and named arrow functions with their length in lines. */
export function functionsOf(file: SourceFile): Func[] {
  const found: Func[] = [];
  const at = (position: number) => file.tree.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node: ts.Node, isInner = false): void => {
    const isFunction = ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;
    if (isFunction) {
      const parent = node.parent;
      const named = node.name ?? (ts.isVariableDeclaration(parent) ? parent.name : undefined);
      const line = at(node.getStart(file.tree));
      const length = at(node.getEnd()) - line + 1;
      const isGenerator = 'asteriskToken' in node && node.asteriskToken !== undefined;
      const isInnerGenerator = isInner && isGenerator;
      found.push({
        name: named?.getText(file.tree) ?? 'anonymous',
        line,
        length,
        isInnerGenerator,
      });
    }
    ts.forEachChild(node, (child) => visit(child, isInner || isFunction));
  };
  visit(file.tree);
  return found;
}

/** Exported names, re-exports included. */
export function exportsOf(file: SourceFile): string[] {
  const found: string[] = [];
  for (const statement of file.tree.statements) {
    if (ts.isExportDeclaration(statement)) {
      const clause = statement.exportClause;
      if (clause === undefined) found.push('*');
      else if (ts.isNamedExports(clause)) found.push(...clause.elements.map((e) => e.name.text));
      continue;
    }
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    if (!modifiers?.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword)) continue;
    if (ts.isVariableStatement(statement))
      found.push(...statement.declarationList.declarations.map((d) => d.name.getText(file.tree)));
    else
      found.push(
        ts.getNameOfDeclaration(statement as ts.DeclarationStatement)?.getText(file.tree) ??
          'default',
      );
  }
  return found;
}

interface Use {
  text: string;
  line: number;
}

const uses = new WeakMap<SourceFile, Use[]>();

/**
 * Returns the text and line of every expression that reads a member, creates or throws something, and of
 * each lone `console` and `process`.
 */
export function usesOf(file: SourceFile): readonly Use[] {
  const known = uses.get(file) ?? findUses(file);
  uses.set(file, known);
  return known;
}

/** As a value: not as the member of another one, nor as a name that is given, nor taken apart. */
function isAlone(node: ts.Node): boolean {
  if (!ts.isIdentifier(node) || !/^(console|process)$/.test(node.text)) return false;
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent)) return false;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if ('name' in parent && parent.name === node) return false;
  const isApart = ts.isVariableDeclaration(parent) && ts.isObjectBindingPattern(parent.name);
  return !isApart || /\benv\b/.test(parent.name.getText());
}

function findUses(file: SourceFile): Use[] {
  const found: Use[] = [];
  const visit = (node: ts.Node): void => {
    const shown =
      ts.isPropertyAccessExpression(node) ||
      ts.isElementAccessExpression(node) ||
      ts.isNewExpression(node) ||
      ts.isThrowStatement(node) ||
      isAlone(node);
    if (shown) {
      const { line } = file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree));
      found.push({ text: node.getText(file.tree), line: line + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(file.tree);
  return found;
}

/** Every string literal of the file. */
export function textsOf(file: SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(file.tree);
  return found;
}
