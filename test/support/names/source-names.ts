// What names the sources give away and who takes them: exported functions, constants and classes that
// no other file imports. Types are left out: they are the words of the signatures of what is used.
import ts from 'typescript';
import type { SourceFile } from '../source-tree.js';

/** Calls `take` with every module that a file reads, and the names it takes of it; `*` is all. */
function eachTaken(file: SourceFile, take: (specifier: string, name: string) => void): void {
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const named = node.importClause?.namedBindings;
      const list = named && ts.isNamedImports(named) ? named.elements : [];
      for (const each of list)
        take(node.moduleSpecifier.text, (each.propertyName ?? each.name).text);
      if (named && ts.isNamespaceImport(named)) take(node.moduleSpecifier.text, '*');
      if (node.importClause?.name) take(node.moduleSpecifier.text, 'default');
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      const { text } = node.moduleSpecifier as ts.StringLiteral;
      const clause = node.exportClause;
      const list = clause && ts.isNamedExports(clause) ? clause.elements : [];
      for (const each of list) take(text, (each.propertyName ?? each.name).text);
      if (list.length === 0) take(text, '*');
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [from] = node.arguments;
      if (from && ts.isStringLiteralLike(from)) take(from.text, '*');
    }
    ts.forEachChild(node, visit);
  };
  visit(file.tree);
}

function exportedValues(file: SourceFile): string[] {
  return file.tree.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const clause = statement.isTypeOnly ? undefined : statement.exportClause;
      const isOwn = statement.moduleSpecifier === undefined;
      if (!isOwn || clause === undefined || !ts.isNamedExports(clause)) return [];
      return clause.elements.flatMap(({ name, isTypeOnly }) => (isTypeOnly ? [] : [name.text]));
    }
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    if (!modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (modifiers.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText(file.tree));
    const isValue =
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isEnumDeclaration(statement);
    return isValue && statement.name ? [statement.name.text] : [];
  });
}

/** `resolve` turns what a file writes into the path of the module it means. */
export function unusedExports(
  files: readonly SourceFile[],
  resolve: (path: string, specifier: string) => string,
): string[] {
  const taken = new Set<string>();
  for (const file of files) {
    eachTaken(file, (specifier, name) => taken.add(`${resolve(file.path, specifier)} ${name}`));
  }
  return files.flatMap((file) =>
    taken.has(`${file.path} *`)
      ? []
      : exportedValues(file)
          .map((name) => `${file.path} ${name}`)
          .filter((place) => !taken.has(place)),
  );
}

/** Lines of `x as unknown as T`, in either way of writing it. */
export function detoursOf(file: SourceFile): number[] {
  const found: number[] = [];
  const isCast = (node: ts.Node): node is ts.AsExpression | ts.TypeAssertion =>
    ts.isAsExpression(node) || ts.isTypeAssertionExpression(node);
  const visit = (node: ts.Node): void => {
    if (isCast(node)) {
      let inner: ts.Node = node.expression;
      while (ts.isParenthesizedExpression(inner)) inner = inner.expression;
      const isDetour = isCast(inner) && /^(unknown|any)$/.test(inner.type.getText(file.tree));
      const { line } = file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree));
      if (isDetour) found.push(line + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(file.tree);
  return found;
}
