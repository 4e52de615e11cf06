// Mendings that the hints of diagnostics say.
import type { Range } from './position.js';

interface EditorDiagnostic {
  range: Range;
  message: string;
}

/** What a hint says to write instead. */
export function codeActions(uri: string, diagnostics: readonly EditorDiagnostic[]): unknown {
  return diagnostics.flatMap((diagnostic) => {
    const newText = /Did you mean `([^`]+)`\?/.exec(diagnostic.message)?.[1];
    if (newText === undefined) return [];
    const edit = { changes: { [uri]: [{ range: diagnostic.range, newText }] } };
    const title = `Change to \`${newText}\``;
    return [{ title, kind: 'quickfix', diagnostics: [diagnostic], edit, isPreferred: true }];
  });
}
