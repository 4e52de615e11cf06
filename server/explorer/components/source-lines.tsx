// Shows lines of a source with numbers and colors. Names link to their declaration, and diagnostics are shown
// below their line.
import { useState } from 'preact/hooks';
import type { Diagnostic } from '../state/sources.js';
import { type Token, tokensOf } from '../model/source-text.js';
import { PlanHere } from './inline-plan.js';

interface SourceLinesProps {
  text: string;
  /** Number of the first line. */
  first?: number;
  types?: ReadonlySet<string>;
  diagnostics?: readonly Diagnostic[];
  linkOf?: (name: string) => string | undefined;
  /** Number of the line in the address. */
  here?: number;
  /** Cost classes of queries, whose plans are shown in the margin. */
  costs?: ReadonlyMap<string, string>;
}

const noTypes: ReadonlySet<string> = new Set();

export function SourceLines(props: SourceLinesProps) {
  const { text, first = 1, types = noTypes, diagnostics = [], linkOf, costs, here } = props;
  const [opened, open] = useState('');
  const lines = text.replace(/\n$/, '').split('\n');
  return (
    <pre class="code lines" tabIndex={0} role="region" aria-label="Source">
      {lines.map((line, at) => {
        const number = first + at;
        const ownDiagnostics = diagnostics.filter((one) => one.line === number);
        const [, query = ''] = (costs && /^\s*QUERY\s+(\w+)/.exec(line)) ?? [];
        const toggle = (): void => open(opened === query ? '' : query);
        const worst = ownDiagnostics.some(({ severity }) => severity === 'error') ? 'bad' : 'amber';
        return (
          <div
            key={number}
            id={`line-${number}`}
            class={ownDiagnostics.length > 0 ? `faulty ${worst}` : number === here ? 'here' : ''}
          >
            <i data-line={number} />
            {costs && (
              <span class="margin">
                {costs.has(query) && (
                  <button
                    type="button"
                    aria-expanded={opened === query}
                    aria-label={`Plan of ${query}, cost ${costs.get(query)}`}
                    title={`Plan of ${query}`}
                    onClick={toggle}
                  >
                    {costs.get(query)}
                  </button>
                )}
              </span>
            )}
            {tokensOf(line, types).map((token, i) => (
              <Word key={i} token={token} link={linkOf?.(token.text)} />
            ))}
            {'\n'}
            {ownDiagnostics.map((diagnostic, i) => (
              <DiagnosticNote key={i} diagnostic={diagnostic} />
            ))}
            {query !== '' && opened === query && <PlanHere query={query} />}
          </div>
        );
      })}
    </pre>
  );
}

function Word({ token, link }: { token: Token; link: string | undefined }) {
  if (token.kind === 'plain') return <>{token.text}</>;
  // Names of types are recognized by their form. A variable can have the name of a query.
  if (link !== undefined && (token.kind === 'type' || token.kind === 'step')) {
    return (
      <a class={`word-${token.kind}`} href={link}>
        {token.text}
      </a>
    );
  }
  return <span class={`word-${token.kind}`}>{token.text}</span>;
}

function DiagnosticNote({ diagnostic }: { diagnostic: Diagnostic }) {
  const { code, column, line, endLine, endColumn, message, hint, severity } = diagnostic;
  const length = endLine === line ? Math.max(1, endColumn - column) : 1;
  return (
    <span class={`diagnostic ${severity}`} role="note">
      {' '.repeat(Math.max(0, column - 1))}
      {'^'.repeat(length)}{' '}
      <span class="message">
        {code} {message}
        {hint !== undefined && ` ${hint}`}
        {'\n'}
      </span>
    </span>
  );
}
