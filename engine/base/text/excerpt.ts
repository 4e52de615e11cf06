// Cuts a text of a request for a message.
import { isPrintable, visible } from './visible.js';

const textMax = 64;

/**
 * Returns the first 64 characters of a text, with invisible characters escaped, so that input can
 * neither bloat nor forge a line.
 */
export function excerpt(text: string): string {
  if (text.length <= textMax && isPrintable(text)) return text;
  let result = '';
  let count = 0;
  for (const character of text) {
    if (count++ === textMax) return `${result}…`;
    result += visible(character);
  }
  return result;
}
