// Returns the corrections that the hints of diagnostics propose.
import type { Range } from './position.js';

interface EditorDiagnostic {
  range: Range;
  message: string;
}

/** Returns the replacement that a hint proposes. */
export function codeActions(uri: string, diagnostics: readonly EditorDiagnostic[]): unknown {
  return diagnostics.flatMap((diagnostic) => {
    const newText = /Did you mean `([^`]+)`\?/.exec(diagnostic.message)?.[1];
    if (newText === undefined) return [];
    const edit = { changes: { [uri]: [{ range: diagnostic.range, newText }] } };
    const title = `Change to \`${newText}\``;
    return [{ title, kind: 'quickfix', diagnostics: [diagnostic], edit, isPreferred: true }];
  });
}
