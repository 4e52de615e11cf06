// What keeps a model from being asked, told before the first text is embedded.
import { TrellisError, errorMessage } from '../base/errors.js';
import type { EmbedderOptions } from './embedder.js';
import { parseModel } from './model.js';
import { providerOf } from './provider.js';

/** Nothing when the name means a model and its credentials are there; calls nobody. */
export function modelFault(
  name: string | undefined,
  environment: EmbedderOptions['environment'],
): string | undefined {
  try {
    const model = parseModel(name);
    if (model.kind !== 'hash') providerOf(model, environment);
    return undefined;
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return errorMessage(error.data);
  }
}
