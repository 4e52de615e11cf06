// Model names: `provider:name`, and `gemini:name:TASK`. A name without prefix is an OpenAI model of exactly
// that name.
import { excerpt, fail } from '../../base/errors.js';
import { type ProviderName, isProviderName } from './provider-table.js';

/** A model that a provider serves over HTTP. */
export interface RemoteModel {
  kind: ProviderName;
  name: string;
  /** Task of Gemini that the name says. It holds for queries and documents. */
  task?: string;
}

/** `dimensions` is undefined when the name does not say it. */
export type Model = RemoteModel | { kind: 'hash'; dimensions: number | undefined };

/** Providers whose server has one model, so that the name may be left out. */
const nameless: ReadonlySet<string> = new Set(['local', 'tei']);
const dimensionsMax = 65_535;

/** Returns the model of a configured name. Fails EMBEDDING_NOT_CONFIGURED for an invalid name. */
export function parseModel(text: string | undefined): Model {
  if (text === undefined || text === '') return notConfigured('no model is configured');
  const colon = text.indexOf(':');
  const provider = colon < 0 ? text : text.slice(0, colon);
  const rest = colon < 0 ? '' : text.slice(colon + 1);
  if (provider === 'hash') return { kind: 'hash', dimensions: parseDimensions(rest) };
  if (nameless.has(provider)) return { kind: provider as ProviderName, name: rest };
  if (colon < 0) {
    const isBare = isProviderName(text) && text !== 'openai';
    return { kind: 'openai', name: isBare ? checkName('', text) : text };
  }
  if (!isProviderName(provider)) notConfigured(`the provider of model ${excerpt(text)} is unknown`);
  if (provider !== 'gemini') return { kind: provider, name: checkName(rest, text) };
  const [name, task] = rest.split(':', 2);
  return { kind: provider, name: checkName(name!, text), ...(task && { task }) };
}

/** Rejects names that consist of dots: names are parts of a URL path, where dots would leave the folder. */
function checkName(name: string, text: string): string {
  if (/^\.*$/.test(name)) notConfigured(`the model ${excerpt(text)} has no name`);
  return name;
}

function parseDimensions(text: string): number | undefined {
  if (text === '') return undefined;
  const dimensions = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (dimensions < 1 || dimensions > dimensionsMax)
    notConfigured(`hash takes 1 to ${dimensionsMax} dimensions`);
  return dimensions;
}

export function notConfigured(what: string, hint?: string): never {
  fail('EMBEDDING_NOT_CONFIGURED', { what }, hint === undefined ? {} : { hint });
}
