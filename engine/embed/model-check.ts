// What keeps a model from being asked, and whom it asks with which credential, told before the first text is
// embedded.
import { TrellisError, errorMessage } from '../base/errors.js';
import type { EmbedderOptions } from './embedder.js';
import { parseModel } from './model.js';
import { type Provider, providerOf } from './provider.js';

type Given = Pick<EmbedderOptions, 'environment' | 'withheld'>;

/** Nothing when the name means a model and its credentials are there; calls nobody. */
export function modelFault(name: string | undefined, given: Given): string | undefined {
  try {
    askedBy(name, given);
    return undefined;
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return errorMessage(error.data);
  }
}

/** The host that gets a credential, by the variable of that; undefined where none goes anywhere. */
export function modelDestination(
  name: string | undefined,
  given: Given,
): { host: string; variable: string } | undefined {
  if (modelFault(name, given) !== undefined) return undefined;
  const { host, variable } = askedBy(name, given) ?? {};
  return host === undefined || variable === undefined ? undefined : { host, variable };
}

function askedBy(name: string | undefined, given: Given): Provider | undefined {
  const model = parseModel(name);
  return model.kind === 'hash' ? undefined : providerOf(model, given);
}
