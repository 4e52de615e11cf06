// Decides whether there is a space between two tokens of one line.
import type { Token } from '../syntax/lexer.js';

const tightBefore = new Set([',', ')', ']', '::', ':', '.', '>', '?', '|', '<']);
const tightAfter = new Set(['(', '[', '::', '.', '!', '#', '<', '|']);
/** Words that are followed by a value, not by the arguments of a call. */
const leads = new Set(['RETURN', 'IN', 'DROP', 'DEFAULT', 'AS']);

const isSign = ({ kind }: Token): boolean => kind === 'symbol';

/** `spaced`: braces have a space inside, as in declarations. */
export function isApart(before: Token, token: Token, spaced: boolean): boolean {
  const [left, right] = [before.text, token.text];
  if (isSign(before) && left === '{') return spaced && !(isSign(token) && right === '}');
  if (isSign(token) && right === '}') return spaced;
  if (isSign(before) && tightAfter.has(left)) return false;
  if (isSign(token) && right === '::')
    return before.kind === 'symbol' && /^(<-|=>|,|:)$/.test(left);
  if (isSign(token) && tightBefore.has(right)) return false;
  if (!isSign(token)) return true;
  if (right === '(') return !/^(name|symbol)$/.test(before.kind) || isLead(before);
  if (right === '{') return !(isSign(before) && /^[>)|]$/.test(left));
  if (right === '[') return !(isSign(before) && left === '#');
  return true;
}

/** Returns true for a word that is followed by a value, and for a symbol such as `<-`. */
function isLead({ kind, text }: Token): boolean {
  return kind === 'name' ? leads.has(text) : /^(<-|=>|,|:|=)$/.test(text);
}
