// Selects the variables of embedding providers from the process environment and the project's `.env`.
// Invariant: a credential goes only to an address from the same source, or to the provider's own address. So
// a project cannot send the user's key to its own host, and an address in the environment never receives the
// project's key.
import { providerVariables } from '../../engine/internal.js';
import { type Environment, type Setting, isSet } from './setting.js';

/** Variables that name the proxy. A project cannot set them, because a proxy could read what is sent. */
const proxyVariables = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].flatMap((name) => [
  name,
  name.toLowerCase(),
]);

export interface ProviderSettings {
  /** Values by variable, without those that are not used. */
  environment: Record<string, string | undefined>;
  /** By variable, the reason why a configured credential is not used. */
  withheld: Record<string, string>;
  settings: Map<string, Setting>;
}

const words = { environment: 'the environment', '.env': 'the project’s .env' } as const;
type Source = keyof typeof words;

/** Merges both sources. The environment wins for a provider as a whole if it names an address. */
export function providerSettings(outer: Environment, dotEnv: Environment): ProviderSettings {
  const from = { environment: outer, '.env': dotEnv };
  const environment: Record<string, string | undefined> = {};
  const withheld: Record<string, string> = {};
  const settings = new Map<string, Setting>();
  const take = (name: string, source: Source): void => {
    const value = from[source][name];
    if (value === undefined) return;
    environment[name] = value;
    settings.set(name, { value, source, ...(source === '.env' && { fromProject: true }) });
  };
  const sourceOf = (...names: string[]): Source | undefined =>
    (['environment', '.env'] as const).find((one) => names.some((name) => isSet(from[one][name])));
  for (const { address, credential } of providerVariables) {
    const addressed = sourceOf(...address);
    if (addressed !== undefined) for (const name of address) take(name, addressed);
    if (credential === undefined) continue;
    const keyed = sourceOf(credential);
    if (addressed === undefined) take(credential, keyed ?? 'environment');
    else if (isSet(from[addressed][credential])) take(credential, addressed);
    else if (keyed !== undefined) {
      const named = address.find((name) => isSet(from[addressed][name]));
      withheld[credential] =
        `${named} is set in ${words[addressed]}, ${credential} in ${words[keyed]}: ` +
        'an address is used only with a credential of the same source';
    }
  }
  // They may have credentials, so `trellis config print` does not show them.
  for (const name of proxyVariables) environment[name] ??= outer[name];
  return { environment, withheld, settings };
}
