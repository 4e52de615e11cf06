// Characters that nobody sees as what they are: they move a terminal's cursor, turn the order of what stands around
// them, or hide text. Invariant: what is shown to people has none of them; each stands there as an escape of JSON.

/**
 * Control characters (C0, DEL, C1), marks and embeddings of direction, separators of lines, byte-order marks,
 * tags. Joiners are none of them: letters and emoji are made with them.
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

/** A text with each of them as `\u202e`. */
export const visible = (text: string): string => text.replace(hidden, escaped);
