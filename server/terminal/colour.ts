// Colors text for a terminal. Other outputs get plain text unless FORCE_COLOR is set; NO_COLOR and TERM=dumb
// disable colors.
import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import type { Environment } from '../config/config.js';

export type Colour = Parameters<typeof styleText>[0];
export type Paint = (colour: Colour, text: string) => string;

const plain: Paint = (_, text) => text;
const coloured: Paint = (colour, text) => (text === '' ? '' : styleText(colour, text));

/** Functions that color texts for a stream. */
export function painterFor(stream: { isTTY?: boolean }, environment: Environment): Paint {
  if (!stream.isTTY && environment.FORCE_COLOR === undefined) return plain;
  // Node evaluates the variables. A stream that is not a terminal lacks this method, so it comes from the
  // prototype.
  const depth = WriteStream.prototype.getColorDepth({ ...environment });
  return depth > 1 ? coloured : plain;
}

/** Colors a diagnostic: its heading by severity, the carets, and the hint. */
export function colourCodeFrame(paint: Paint, codeFrame: string, isError: boolean): string {
  const colour = isError ? 'red' : 'yellow';
  return codeFrame
    .split('\n')
    .map((line, i) => {
      const head = i === 0 ? /^(.*:\d+:\d+) (\w+) (.*)$/.exec(line) : null;
      if (head) return `${paint('bold', head[1]!)} ${paint(colour, head[2]!)} ${head[3]}`;
      if (/^[ |]*\^+$/.test(line)) return paint(colour, line);
      return line.startsWith('  hint: ') ? paint('cyan', line) : line;
    })
    .join('\n');
}
