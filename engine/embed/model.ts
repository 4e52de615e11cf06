// Model names: `provider:name[:task]`. A name without prefix is an OpenAI model of exactly that
// name.
import { excerpt, fail } from '../base/errors.js';

export type Model =
  | { kind: 'openai' | 'azure_openai'; name: string }
  | { kind: 'gemini'; name: string; task: string }
  | { kind: 'local' }
  | { kind: 'hash'; dimensions: number };

export type ProviderName = Model['kind'];

const defaultTask = 'RETRIEVAL_DOCUMENT';
const defaultDimensions = 256;
const dimensionsMax = 65_535;

/** Returns the model of a configured name. Fails EMBEDDING_NOT_CONFIGURED for an invalid name. */
export function parseModel(text: string | undefined): Model {
  if (text === undefined || text === '') return notConfigured('no model is configured');
  const colon = text.indexOf(':');
  const provider = colon < 0 ? text : text.slice(0, colon);
  const rest = colon < 0 ? '' : text.slice(colon + 1);
  switch (provider) {
    case 'local':
      return { kind: 'local' };
    case 'hash':
      return { kind: 'hash', dimensions: parseDimensions(rest) };
    case 'openai':
    case 'azure_openai':
      return { kind: provider, name: checkName(rest, text) };
    case 'gemini': {
      const [name, task] = rest.split(':', 2);
      return { kind: 'gemini', name: checkName(name!, text), task: task || defaultTask };
    }
    default:
      if (colon >= 0) notConfigured(`the provider of model ${excerpt(text)} is unknown`);
      return { kind: 'openai', name: text };
  }
}

/** Rejects names that consist of dots: names are parts of a URL path, where dots would leave the folder. */
function checkName(name: string, text: string): string {
  if (/^\.*$/.test(name)) notConfigured(`the model ${excerpt(text)} has no name`);
  return name;
}

function parseDimensions(text: string): number {
  if (text === '') return defaultDimensions;
  const dimensions = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (dimensions < 1 || dimensions > dimensionsMax)
    notConfigured(`hash takes 1 to ${dimensionsMax} dimensions`);
  return dimensions;
}

export function notConfigured(what: string, hint?: string): never {
  fail('EMBEDDING_NOT_CONFIGURED', { what }, hint === undefined ? {} : { hint });
}
