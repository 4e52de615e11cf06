// Makes the HTTP calls of a provider: its row of the table, with the address and the credential of this
// environment. No part of a request determines the destination.
import { loopbackHost } from './private-address.js';
import { notConfigured, type RemoteModel } from './model.js';
import {
  type ProviderName,
  type ProviderRow,
  type Purpose,
  type Task,
  providerTable,
} from './provider-table.js';

/** The settings of the environment that providers use. */
export interface Environment {
  environment: Readonly<Record<string, string | undefined>>;
  /** Reasons, by variable, why an existing credential is not in the environment. */
  withheld?: Readonly<Record<string, string>> | undefined;
}

/** One HTTP call. */
export interface ProviderCall {
  provider: ProviderName;
  url: URL;
  headers: Record<string, string>;
  body: unknown;
  /** Never shown: removed from every message of the provider. */
  credential?: string | undefined;
  /** The address may be private: the operator configured it, or it is the local default. */
  trusted: boolean;
}

/** What the vectors of a call are for. */
export interface CallForm {
  /** The provider's own name of the task. */
  task: string | undefined;
  dimensions: number | undefined;
}

export interface Provider {
  /** Usual maximum of texts and of estimated tokens in one call. */
  batch: ProviderRow['batch'];
  /** Host and port of the call. */
  host: string;
  /** Variable of the credential that the host receives. */
  variable?: string | undefined;
  call(texts: readonly string[], form: CallForm): ProviderCall;
}

/** Returns the provider of a model. Fails EMBEDDING_NOT_CONFIGURED without credentials. */
export function findProvider({ kind, name }: RemoteModel, environment: Environment): Provider {
  const row = providerTable[kind];
  const base = buildAddress(row, environment);
  const credential = readCredential(row, base.url, environment);
  const headers = credential === undefined ? {} : headersOf(row, credential);
  const url = under(base.url, row.path(name));
  return {
    batch: row.batch,
    host: url.host,
    variable: credential === undefined ? undefined : row.credential?.variable,
    call: (texts, form) => ({
      provider: kind,
      url,
      headers,
      body: row.body({ model: name, texts, ...form }),
      credential,
      trusted: base.isTrusted,
    }),
  };
}

/**
 * Returns the provider's own name of a task, or undefined if it has none. A task in the name of the model
 * wins.
 */
export function taskName(
  { kind, name, task: own }: RemoteModel,
  task: Task,
  purpose: Purpose,
): string | undefined {
  if (own !== undefined) return own;
  // The second generation of Jina's models takes no task.
  if (kind === 'jina' && !/-v[3-9]/.test(name)) return undefined;
  const names = providerTable[kind].tasks?.[task];
  if (names === undefined || typeof names === 'string') return names;
  return names[purpose === 'query' ? 0 : 1];
}

function headersOf({ credential }: ProviderRow, value: string): Record<string, string> {
  const header = credential!.header;
  return header === 'bearer' ? { authorization: `Bearer ${value}` } : { [header]: value };
}

function buildAddress(
  { address: { variable, usual }, isOwn }: ProviderRow,
  { environment }: Environment,
): { url: URL; isTrusted: boolean } {
  const value = environment[variable]?.trim();
  if (!value) {
    const url = new URL(usual ?? azureAddress(environment));
    return { url, isTrusted: isOwn === true };
  }
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const usable = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '';
  if (!usable) notConfigured(`${variable} is not an http or https URL without credentials`);
  return { url, isTrusted: true };
}

/** The address of Azure contains the name of the customer's resource. */
function azureAddress(environment: Environment['environment']): string {
  const resource = environment.AZURE_OPENAI_RESOURCE_NAME?.trim() ?? '';
  if (!/^[A-Za-z0-9-]+$/.test(resource))
    notConfigured('AZURE_OPENAI_RESOURCE_NAME or AZURE_OPENAI_ENDPOINT is not set');
  return `https://${resource}.openai.azure.com`;
}

/** Joins a base URL and a path. The members of the query of the base URL win. */
function under(base: URL, path: string): URL {
  const [folder = '', query = ''] = path.split('?', 2);
  const url = new URL(base);
  if (folder !== '') url.pathname = `${base.pathname.replace(/\/+$/, '')}/${folder}`;
  for (const [name, value] of new URLSearchParams(query))
    if (!url.searchParams.has(name)) url.searchParams.set(name, value);
  url.hash = '';
  return url;
}

/**
 * Returns undefined where no credential is set and none is needed: the server is on this machine, or it is
 * the operator's own. A credential that is withheld is never left out silently.
 */
function readCredential(
  { credential, isOwn }: ProviderRow,
  url: URL,
  { environment, withheld }: Environment,
): string | undefined {
  if (credential === undefined) return undefined;
  const { variable } = credential;
  const value = environment[variable]?.trim();
  if (!value) {
    const why = withheld?.[variable];
    if (why !== undefined) notConfigured(why, 'Set both in the same place.');
    if (isOwn || loopbackHost(url)) return undefined;
    notConfigured(`the environment variable ${variable} is not set`);
  }
  if (!/^[\x21-\x7e]+$/.test(value))
    notConfigured(`${variable} holds characters that no header may carry`);
  return value;
}
