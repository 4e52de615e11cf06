// Whether a space stands between two tokens of one line.
import type { Token } from '../syntax/lexer.js';

const tightBefore = new Set([',', ')', ']', '::', ':', '.', '>', '?', '|', '<']);
const tightAfter = new Set(['(', '[', '::', '.', '!', '#', '<', '|']);
/** Words that a value follows, not the arguments of a call. */
const leads = new Set(['RETURN', 'IN', 'DROP', 'DEFAULT', 'AS']);

const isSign = ({ kind }: Token): boolean => kind === 'symbol';

/** `spaced`: braces have room inside, as those of declarations. */
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

/** A word that a value follows, or a sign such as `<-`. */
function isLead({ kind, text }: Token): boolean {
  return kind === 'name' ? leads.has(text) : /^(<-|=>|,|:|=)$/.test(text);
}
