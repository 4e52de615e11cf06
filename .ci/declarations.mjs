// The type declarations of the package: of each compiled declaration file only what the entries reach, without
// members that are marked `@internal`. Invariant: what no public name mentions is not shipped, so no type of a
// dependency or of a browser is needed to compile against the package.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript';

const isInternal = (node, source) =>
  ts
    .getLeadingCommentRanges(source.text, node.pos)
    ?.some(({ pos, end }) => /@internal\b/.test(source.text.slice(pos, end)));

/** The text without internal members and without the link to a source map. */
function withoutInternals(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const cuts = [];
  const visit = (node) => {
    if (ts.isTypeElement(node) && isInternal(node, source)) cuts.push([node.pos, node.end]);
    else ts.forEachChild(node, visit);
  };
  visit(source);
  let result = text;
  for (const [from, to] of cuts.reverse()) result = result.slice(0, from) + result.slice(to);
  return result.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}

/** A declaration file: its statements by declared name, and where other names come from. */
function readModule(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const own = new Map();
  const from = new Map();
  /** What is exported of names that are imported or declared here, and of other modules. */
  const exported = new Map();
  const all = [];
  const declare = (name, statement) => own.set(name, [...(own.get(name) ?? []), statement]);
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) {
      const specifier = statement.moduleSpecifier?.text;
      const clause = ts.isImportDeclaration(statement)
        ? statement.importClause?.namedBindings
        : statement.exportClause;
      if (clause?.elements === undefined) all.push(statement);
      for (const each of clause?.elements ?? []) {
        const name = (each.propertyName ?? each.name).text;
        const origins = ts.isImportDeclaration(statement) ? from : exported;
        origins.set(each.name.text, { statement, specifier, name, each });
      }
    } else if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations) declare(name.text, statement);
    } else if (statement.name !== undefined) declare(statement.name.text, statement);
    else all.push(statement);
  }
  return { source, own, from, exported, all, kept: new Set(), keptElements: new Set() };
}

/** Writes the declarations of `entries`, paths below `from`, to the folder `to`. */
export function gatherDeclarations(from, to, entries) {
  const modules = new Map();
  const moduleAt = (path) => {
    if (!modules.has(path)) {
      const text = readFileSync(join(from, path), 'utf8');
      modules.set(path, readModule(path, withoutInternals(path, text)));
    }
    return modules.get(path);
  };
  const targetOf = (path, specifier) =>
    specifier?.startsWith('.')
      ? posix.join(posix.dirname(path), specifier.replace(/\.(m|c)?js$/, '.d.$1ts'))
      : undefined;

  const takeStatement = (path, statement) => {
    const { kept } = moduleAt(path);
    if (kept.has(statement)) return;
    kept.add(statement);
    const visit = (node) => {
      if (ts.isIdentifier(node)) takeName(path, node.text);
      const argument = ts.isImportTypeNode(node) ? node.argument.literal.text : undefined;
      const target = targetOf(path, argument);
      if (target !== undefined) takeExport(target, node.qualifier.getText());
      ts.forEachChild(node, visit);
    };
    visit(statement);
  };
  const takeName = (path, name) => {
    const { own, from: imported } = moduleAt(path);
    for (const statement of own.get(name) ?? []) takeStatement(path, statement);
    takeOrigin(path, imported.get(name));
  };
  /** A name as other modules see it. */
  const takeExport = (path, name) => {
    const { exported } = moduleAt(path);
    if (exported.has(name)) takeOrigin(path, exported.get(name));
    else takeName(path, name);
  };
  const takeOrigin = (path, origin) => {
    const { keptElements } = moduleAt(path);
    if (origin === undefined || keptElements.has(origin.each)) return;
    keptElements.add(origin.each);
    const target = targetOf(path, origin.specifier);
    if (target !== undefined) takeExport(target, origin.name);
    else if (origin.specifier === undefined) takeName(path, origin.name);
  };

  for (const path of entries) {
    const { own, exported } = moduleAt(path);
    for (const name of exported.keys()) takeExport(path, name);
    for (const [name, [statement]] of own) {
      const isExported = statement.modifiers?.some(
        ({ kind }) => kind === ts.SyntaxKind.ExportKeyword,
      );
      if (isExported) takeName(path, name);
    }
  }
  rmSync(to, { recursive: true, force: true });
  for (const [path, module] of modules) {
    const text = printModule(module);
    mkdirSync(dirname(join(to, path)), { recursive: true });
    writeFileSync(join(to, path), text);
  }
}

function printModule({ source, kept, keptElements, from, exported, all }) {
  const keptImports = new Map();
  for (const { statement, each } of [...from.values(), ...exported.values()])
    if (keptElements.has(each))
      keptImports.set(statement, [...(keptImports.get(statement) ?? []), each]);
  const parts = source.statements.flatMap((statement) => {
    const elements = keptImports.get(statement);
    if (elements !== undefined) {
      const { moduleSpecifier } = statement;
      const clause = ts.isImportDeclaration(statement)
        ? statement.importClause.namedBindings
        : statement.exportClause;
      const head = source.text.slice(statement.getStart(), clause.getStart());
      const names = elements.map((each) => each.getText()).join(', ');
      const origin = moduleSpecifier ? ` from ${moduleSpecifier.getText()}` : '';
      return [`${head}{ ${names} }${origin};`];
    }
    const isAlways = all.includes(statement) && !ts.isImportDeclaration(statement);
    if (kept.has(statement) || isAlways) return [statement.getFullText().trim()];
    return [];
  });
  const references = source.text.match(/^\/\/\/ <reference .*$/gm) ?? [];
  const body = parts.join('\n');
  return `${[...references.filter((line) => !body.includes(line)), body].join('\n')}\n`;
}
