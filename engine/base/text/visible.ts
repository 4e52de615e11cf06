// Escapes invisible characters: those that move a terminal's cursor, change the direction of the
// text around them, or hide text.
// Invariant: text that people read contains none of them, only their JSON escapes.

/**
 * Control characters (C0, DEL, C1), directional marks and embeddings, line separators, byte-order
 * marks, tags. Joiners are allowed: letters and emoji are made with them.
 */
const ranges = [
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e',
  '\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}',
];
const hidden = new RegExp(`[${ranges.join('')}]`, 'gu');

const escaped = (character: string): string => {
  let text = '';
  for (let i = 0; i < character.length; i++)
    text += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return text;
};

/** Returns the text with each invisible character escaped, for example `\u202e`. */
export const visible = (text: string): string => text.replace(hidden, escaped);

const printable = /^[ -~]*$/;

/** Returns true if all characters are ASCII and visible, so that `visible` returns the text as it is. */
export const isPrintable = (text: string): boolean => printable.test(text);
