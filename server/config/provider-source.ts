// Which variables of embedding providers are in force, from the process's environment and the project's `.env`.
// Invariant: a credential goes to an address of its own source, or to the provider's own address: neither can a
// project send the caller's key to a host of its choice, nor the caller's address be given the project's.
import { type Environment, type Setting, isGiven } from './setting.js';

/** Where an address, and where a credential of a provider stand. */
interface Variables {
  address: readonly string[];
  credential?: string;
}

const providers: readonly Variables[] = [
  { address: ['OPENAI_BASE_URL'], credential: 'OPENAI_API_KEY' },
  {
    address: ['AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_RESOURCE_NAME'],
    credential: 'AZURE_OPENAI_API_KEY',
  },
  { address: ['GEMINI_BASE_URL'], credential: 'GEMINI_API_KEY' },
  { address: ['EMBEDDING_URL'] },
];

export interface ProviderSettings {
  /** By variable; those that are not used are left out. */
  environment: Record<string, string | undefined>;
  /** By variable: why a credential that is there is not used. */
  withheld: Record<string, string>;
  settings: Map<string, Setting>;
}

const words = { environment: 'the environment', '.env': 'the project’s .env' } as const;
type Source = keyof typeof words;

/** The environment wins: of each provider as a whole, where it names an address. */
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
    (['environment', '.env'] as const).find((one) =>
      names.some((name) => isGiven(from[one][name])),
    );
  for (const { address, credential } of providers) {
    const addressed = sourceOf(...address);
    if (addressed !== undefined) for (const name of address) take(name, addressed);
    if (credential === undefined) continue;
    const keyed = sourceOf(credential);
    if (addressed === undefined) take(credential, keyed ?? 'environment');
    else if (isGiven(from[addressed][credential])) take(credential, addressed);
    else if (keyed !== undefined) {
      const named = address.find((name) => isGiven(from[addressed][name]));
      withheld[credential] =
        `${named} is set in ${words[addressed]}, ${credential} in ${words[keyed]}: ` +
        'an address is used only with a credential of the same source';
    }
  }
  return { environment, withheld, settings };
}
