// The page server/errors.md, made from the catalogue of errors, the status codes and the exit codes: so it cannot be
// out of date without a test saying so. Owns the page's words around its tables.
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

<!-- Made from engine/base/errors.ts. To make it anew:
npx vitest run --config test/vitest.config.ts test/docs/errors.test.ts -u -->

Every error is one JSON object. Its status is the one of its code, always the same:

\`\`\`sh
curl -s localhost:6969/worksOf -H 'Content-Type: application/json' -d '{"person":1}'
\`\`\`
\`\`\`json
{"error":"\`person\` must be String, got a number.","code":"PARAM_TYPE","path":"/person","args":{"param":"person","type":"String","got":"a number"},"hint":"For example \\"text\\".","retryable":false,"request_id":"…"}
\`\`\`

| Member | Is |
|---|---|
| \`error\` | the sentence for people; it may change between versions |
| \`code\` | what programs compare; it does not change |
| \`path\` | a JSON Pointer to the fault in the body, where there is one |
| \`args\` | the values in the sentence, by name |
| \`hint\` | what to do, where something can be said |
| \`retryable\` | whether the same request may succeed later; 429 and 503 have the header \`Retry-After\` |
| \`errors\` | all faults of one body, up to 8, when there are more than one |
| \`request_id\` | the request's name in the log: the header \`X-Request-Id\`, or one made here |

Embedded, the same codes are in \`error.code\` of a \`TrellisError\`. A query that was answered with an error has changed nothing, with one exception: after \`OUTCOME_UNKNOWN\` the write may be done or not.`;

const titles: Record<string, string> = {
  '4': 'The request is at fault',
  '5': 'The server cannot do it now',
  exit: 'At start',
};

const aboutStart = `These end the process, or a command, with an exit code. The last line on stderr is \`CODE: sentence hint\`.
A reload that meets one of them answers it and goes on with what it had.`;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** What a code's row begins with: a status, or an exit code for what no request is answered with. */
function answerOf(code: ErrorCode): string {
  const atStart = errorCodes.indexOf(code) >= errorCodes.indexOf('CONFIG_INVALID');
  return atStart ? `exit ${exitCodeOf(code)}` : statusOf(code).slice(0, 3);
}

function rowOf(code: ErrorCode): string {
  // Of a defect the sentence without a request is another one.
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
