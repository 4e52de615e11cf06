// Builds the page server/errors.md from the catalogue of errors, the status codes and the exit codes, so that a test
// fails when the page is out of date. Owns the words around the tables.
import {
  type ErrorArgs,
  errorCodes,
  errorHint,
  errorMessage,
  isRetryable,
} from '../../engine/base/errors.js';
import type { ErrorCode } from '../../engine/base/errors.js';
import { statusOf } from '../../server/http/http-error.js';
import { exitCodeOf } from '../../server/lifecycle/exit-code.js';

const intro = `# Errors

<!-- Generated from engine/base/errors.ts. To generate it again:
npx vitest run --config test/vitest.config.ts test/docs/errors.test.ts -u -->

Every error is one JSON object. Each code always has the same HTTP status:

\`\`\`sh
curl -s localhost:6969/worksOf -H 'Content-Type: application/json' -d '{"person":1}'
\`\`\`
\`\`\`json
{"error":"\`person\` must be String, got a number.","code":"PARAM_TYPE","path":"/person","args":{"param":"person","type":"String","got":"a number"},"hint":"For example \\"text\\".","retryable":false,"request_id":"…"}
\`\`\`

| Member | Is |
|---|---|
| \`error\` | a sentence for people; it may change between versions |
| \`code\` | the name that programs compare; it does not change |
| \`path\` | a JSON Pointer to the invalid value in the body; absent if the error is not about one value |
| \`args\` | the values in the sentence, by name |
| \`hint\` | what to do about it; absent if there is no advice |
| \`retryable\` | whether the same request may succeed later; 429 and 503 have the header \`Retry-After\` |
| \`errors\` | every error of one body, up to 8; absent if there is only one |
| \`request_id\` | the identifier of the request in the log: the header \`X-Request-Id\`, or a generated one |

Embedded, the same codes are in \`error.code\` of a \`TrellisError\`. A query that fails changes nothing, with one exception: after \`OUTCOME_UNKNOWN\` the write may or may not have succeeded.`;

const titles: Record<string, string> = {
  '4': 'Errors of the request',
  '5': 'Errors of the server',
  exit: 'Errors at start-up',
};

const aboutStart = `These errors end the server or a command with an exit code. The last line on stderr is \`CODE: sentence hint\`.
A reload that fails with one of them returns the error and keeps the previous version.`;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** What a code's row begins with: a status, or an exit code for what no request is answered with. */
function answerOf(code: ErrorCode): string {
  const atStart = errorCodes.indexOf(code) >= errorCodes.indexOf('CONFIG_INVALID');
  return atStart ? `exit ${exitCodeOf(code)}` : statusOf(code).slice(0, 3);
}

function rowOf(code: ErrorCode): string {
  // The sentence of INTERNAL differs when there is no request.
  const args: ErrorArgs = code === 'INTERNAL' ? { request_id: '{request_id}' } : {};
  const data = { code, args };
  const retry = isRetryable(code) ? 'yes' : 'no';
  const cells = [answerOf(code), `\`${code}\``, errorMessage(data), errorHint(data) ?? '', retry];
  return `| ${cells.map(cell).join(' | ')} |`;
}

/** The whole text of server/errors.md. */
export function errorsPage(): string {
  const kindOf = (code: ErrorCode) => /^\d/.exec(answerOf(code))?.[0] ?? 'exit';
  const tables = Object.entries(titles).map(([kind, title]) => {
    const rows = errorCodes.filter((code) => kindOf(code) === kind).map(rowOf);
    const head = ['| Status | Code | Sentence | Hint | Retry |', '|---|---|---|---|---|'];
    const about = kind === 'exit' ? [aboutStart, ''] : [];
    return [`## ${title}`, '', ...about, ...head, ...rows].join('\n');
  });
  return `${[intro, ...tables].join('\n\n')}\n`;
}
