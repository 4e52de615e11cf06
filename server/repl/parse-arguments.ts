// Converts typed arguments such as `person=newton` to the JSON of a call, by the declared types. A value that
// does not fit its type is sent as text: the decoder of the call reports the error, as over HTTP.
import {
  excerpt,
  fail,
  nearestName,
  type ParameterType,
  type Query,
} from '../../engine/internal.js';

const numberForm = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const wordForm = /^([A-Za-z]\w*)=(.*)$/s;

const isObject = (word: string): boolean => word.startsWith('{');

/** Returns whether a word of a command line is one argument of a query, or the object of all. */
export const isArgument = (word: string): boolean => wordForm.test(word) || isObject(word);

/**
 * Returns the JSON object of `name=value` words, or of one word that is the object. Digits stay as they were
 * typed.
 */
export function argumentsText({ name, plan }: Query, words: readonly string[]): string {
  if (words.length === 1 && isObject(words[0]!)) return words[0]!;
  const members = new Map<string, string>();
  const names = plan.parameters.map((each) => each.name);
  for (const word of words) {
    const [, param, text] = wordForm.exec(word) ?? refuseWord(word, names);
    const parameter = plan.parameters.find((each) => each.name === param);
    if (parameter === undefined) return refuse(name, param!, names);
    if (members.has(param!)) fail('CONFIG_INVALID', { what: `${excerpt(param!)} is given twice.` });
    members.set(param!, jsonOf(text!, parameter.type, parameter.optional));
  }
  return `{${[...members].map(([param, json]) => `${JSON.stringify(param)}:${json}`).join(',')}}`;
}

/**
 * Splits a line of the shell into words at white space. White space inside quotes and JSON values belongs to
 * the word; quotes around a value are removed: `name="Mary Shelley"` is one word, `name=Mary Shelley`.
 * Returns undefined if a quote or bracket is not closed.
 */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  let at = 0;
  for (;;) {
    at += /^\s*/.exec(line.slice(at))![0].length;
    if (at === line.length) return words;
    const rest = line.slice(at);
    const name = /^[A-Za-z]\w*=/.exec(rest)?.[0] ?? '';
    const value = readValue(rest.slice(name.length));
    if (value === undefined) return undefined;
    words.push(name + value.text);
    at += name.length + value.length;
  }
}

/** Returns the value at the beginning of `text`, and how many characters of `text` it takes. */
function readValue(text: string): { text: string; length: number } | undefined {
  const quoted = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')(?=\s|$)/s.exec(text);
  if (quoted !== null) {
    const [whole, double, single] = quoted;
    return { text: single ?? unescaped(double!), length: whole.length };
  }
  if (/^["']/.test(text)) return undefined;
  if (!/^[[{]/.test(text)) {
    const [word] = /^\S*/.exec(text)!;
    return { text: word, length: word.length };
  }
  let open = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    open += '[{'.includes(token) ? 1 : ']}'.includes(token) ? -1 : 0;
    if (open === 0) return { text: text.slice(0, index + 1), length: index + 1 };
  }
  return undefined;
}

/**
 * Returns the text of a double-quoted value. A valid JSON string has JSON escapes; otherwise a backslash
 * escapes any character.
 */
function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text.replace(/\\(.)/gs, '$1');
  }
}

const takesOf = (names: readonly string[]): string =>
  names.length === 0 ? 'It takes none.' : `It takes ${names.join(', ')}.`;

/** Returns the error for a word that names no parameter. */
function refuseWord(word: string, names: readonly string[]): never {
  const what = `${excerpt(word)} is no argument: write NAME=VALUE, or all as one JSON object.`;
  return fail('CONFIG_INVALID', { what }, { hint: takesOf(names) });
}

function refuse(owner: string, name: string, names: readonly string[]): never {
  const near = nearestName(name, names);
  const takes = takesOf(names);
  const hint = near === undefined ? takes : `Did you mean ${near}?`;
  return fail('UNKNOWN_MEMBER', { owner, member: excerpt(name) }, { hint });
}

function jsonOf(text: string, type: ParameterType, optional: boolean): string {
  if (optional && text === 'null') return text;
  if (type.kind !== 'scalar') return isJson(text) ? text : JSON.stringify(text);
  const isBare = type.name === 'Boolean' ? /^(true|false)$/.test(text) : isNumeric(type.name);
  return isBare && (type.name === 'Boolean' || numberForm.test(text)) ? text : JSON.stringify(text);
}

const isNumeric = (name: string): boolean => /^[IUF]\d+$/.test(name);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
