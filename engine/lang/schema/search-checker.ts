// Checks `SEARCH` in front of a property, and its options.
import { type ElementKind, type PropertyType, isText } from '../../base/schema.js';
import type { SearchOptions } from '../../base/text/search-options.js';
import { isLanguageName, languageNames } from '../../base/text/language-name.js';
import type { LiteralValue } from '../syntax/ast-literal.js';
import type { SearchMark } from '../syntax/ast-schema.js';
import type { Report } from '../syntax/diagnostic.js';
import { didYouMean } from '../../base/did-you-mean.js';

const names = ['weight', 'language', 'prefix'];
const weightMax = 100;

/** Returns the options, or undefined after a report of a mark that may not stand here. */
export function checkSearch(
  { span, options }: SearchMark,
  kind: ElementKind,
  type: PropertyType,
  report: Report,
): SearchOptions | undefined {
  if (kind === 'edge' || !isText(type)) {
    const what = kind === 'edge' ? 'properties of edges' : 'properties of other types';
    const hint = 'It stands in front of a String or [String] of a node or vector type.';
    report('E733', span, `Keyword search does not read ${what}.`, hint);
    return undefined;
  }
  const checked: SearchOptions = { weight: 1 };
  const seen = new Set<string>();
  for (const { name, value } of options) {
    if (value.kind === 'faulty') continue;
    const { text } = name;
    if (!names.includes(text) || seen.has(text)) {
      const message = seen.has(text)
        ? `\`${text}\` stands here twice.`
        : `\`SEARCH\` has no option \`${text}\`.`;
      const hint = didYouMean(text, names, 'There are weight, language and prefix.');
      report('E744', name.span, message, seen.has(text) ? 'Remove one.' : hint);
      continue;
    }
    seen.add(text);
    const problem = setOption(checked, text, value.value);
    if (problem !== undefined) report('E744', value.span, problem.message, problem.hint);
  }
  return checked;
}

/** Sets an option. Returns what is wrong with its value. */
function setOption(
  options: SearchOptions,
  name: string,
  value: LiteralValue,
): { message: string; hint?: string | undefined } | undefined {
  if (name === 'weight') {
    const weight = value.kind === 'integer' ? Number(value.value) : 0;
    if (weight < 1 || weight > weightMax) {
      const message = `A weight is a whole number from 1 to ${weightMax}.`;
      return { message, hint: 'For less than others, give the others more.' };
    }
    options.weight = weight;
  } else if (name === 'language') {
    const text = value.kind === 'string' ? value.value : '';
    if (!isLanguageName(text)) {
      const known = `There are ${languageNames.map((one) => `"${one}"`).join(', ')}.`;
      return {
        message: 'This is no language of keyword search.',
        hint: didYouMean(text, languageNames, known),
      };
    }
    options.language = text;
  } else {
    if (value.kind !== 'boolean')
      return { message: '`prefix` is true or false.', hint: 'Write `SEARCH(prefix: true)`.' };
    if (value.value) options.prefix = true;
  }
  return undefined;
}
