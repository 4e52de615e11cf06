// Checks the configuration of a model before the first text is embedded: whether it can be called, and which
// host receives which credential.
import { TrellisError, errorMessage } from '../../base/errors.js';
import { parseModel } from './model.js';
import { type Environment, type Provider, findProvider } from './provider.js';

/**
 * Returns why a model cannot be used, or undefined if its name is valid and its credentials are present.
 * Makes no call.
 */
export function checkModel(name: string | undefined, settings: Environment): string | undefined {
  try {
    findModelProvider(name, settings);
    return undefined;
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return errorMessage(error.data);
  }
}

/**
 * Returns the host that receives a credential, with the variable of the credential; undefined if no host
 * does.
 */
export function modelDestination(
  name: string | undefined,
  settings: Environment,
): { host: string; variable: string } | undefined {
  if (checkModel(name, settings) !== undefined) return undefined;
  const { host, variable } = findModelProvider(name, settings) ?? {};
  return host === undefined || variable === undefined ? undefined : { host, variable };
}

function findModelProvider(name: string | undefined, settings: Environment): Provider | undefined {
  const model = parseModel(name);
  return model.kind === 'hash' ? undefined : findProvider(model, settings);
}
