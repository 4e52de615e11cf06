// Differences between providers: address, headers, request and response formats. All settings come from the
// given environment; no part of a request determines the destination.
import { type Model, notConfigured, type ProviderName } from './model.js';

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
  credential?: string;
  /** The address may be private: the operator configured it, or it is the local default. */
  trusted: boolean;
}

export interface Provider {
  /** Maximum number of texts in one call. */
  batch: number;
  /** Host and port of the call. */
  host: string;
  /** Variable of the credential that the host receives. */
  variable?: string;
  call(texts: readonly string[]): ProviderCall;
}

const batchMax = 256;

/**
 * Returns the provider of a model that is not computed locally. Fails EMBEDDING_NOT_CONFIGURED without
 * credentials.
 */
export function findProvider(
  model: Exclude<Model, { kind: 'hash' }>,
  environment: Environment,
): Provider {
  switch (model.kind) {
    case 'openai':
      return openai(model.name, environment);
    case 'azure_openai':
      return azure(model.name, environment);
    case 'gemini':
      return gemini(model.name, model.task, environment);
    case 'local':
      return local(environment);
  }
}

function openai(name: string, environment: Environment): Provider {
  const base = buildAddress(environment, 'OPENAI_BASE_URL', 'https://api.openai.com/v1');
  const variable = 'OPENAI_API_KEY';
  const credential = readCredential(environment, variable);
  return {
    batch: batchMax,
    host: base.url.host,
    variable,
    call: (texts) => ({
      provider: 'openai',
      url: under(base.url, 'embeddings'),
      headers: { authorization: `Bearer ${credential}` },
      body: { input: oneOrAll(texts), model: name },
      credential,
      trusted: base.trusted,
    }),
  };
}

function azure(deployment: string, environment: Environment): Provider {
  const { AZURE_OPENAI_RESOURCE_NAME, AZURE_OPENAI_ENDPOINT } = environment.environment;
  const resource = AZURE_OPENAI_RESOURCE_NAME?.trim() ?? '';
  if (!AZURE_OPENAI_ENDPOINT && !/^[A-Za-z0-9-]+$/.test(resource))
    notConfigured('AZURE_OPENAI_RESOURCE_NAME or AZURE_OPENAI_ENDPOINT is not set');
  const usual = `https://${resource}.openai.azure.com`;
  const base = buildAddress(environment, 'AZURE_OPENAI_ENDPOINT', usual);
  const variable = 'AZURE_OPENAI_API_KEY';
  const credential = readCredential(environment, variable);
  const path = `openai/deployments/${encodeURIComponent(deployment)}/embeddings`;
  return {
    batch: batchMax,
    host: base.url.host,
    variable,
    call: (texts) => ({
      provider: 'azure_openai',
      url: under(base.url, `${path}?api-version=2024-10-21`),
      headers: { 'api-key': credential },
      body: { input: oneOrAll(texts) },
      credential,
      trusted: base.trusted,
    }),
  };
}

function gemini(name: string, task: string, environment: Environment): Provider {
  const usual = 'https://generativelanguage.googleapis.com';
  const base = buildAddress(environment, 'GEMINI_BASE_URL', usual);
  const variable = 'GEMINI_API_KEY';
  const credential = readCredential(environment, variable);
  return {
    batch: 1,
    host: base.url.host,
    variable,
    call: ([text]) => ({
      provider: 'gemini',
      url: under(base.url, `v1beta/models/${encodeURIComponent(name)}:embedContent`),
      headers: { 'x-goog-api-key': credential },
      body: { content: { parts: [{ text }] }, taskType: task },
      credential,
      trusted: base.trusted,
    }),
  };
}

function local(environment: Environment): Provider {
  const { url } = buildAddress(environment, 'EMBEDDING_URL', 'http://localhost:8699/embed');
  return {
    batch: 1,
    host: url.host,
    call: ([text]) => ({
      provider: 'local',
      url,
      headers: {},
      body: { text, chunk_style: 'recursive', chunk_size: 100 },
      trusted: true,
    }),
  };
}

/** Returns the unchecked vectors of a response. */
export function extractVectors(provider: ProviderName, answer: unknown): unknown[] {
  switch (provider) {
    case 'gemini':
      return [readMember(readMember(answer, 'embedding'), 'values')];
    case 'local':
      return [readMember(answer, 'embedding')];
    default:
      return openaiVectors(answer);
  }
}

const oneOrAll = (texts: readonly string[]): string | readonly string[] =>
  texts.length === 1 ? texts[0]! : texts;

/** Reads `data[i].embedding`, in the order of `index` if the provider sends it. */
function openaiVectors(answer: unknown): unknown[] {
  const data = readMember(answer, 'data');
  if (!Array.isArray(data)) return [];
  const vectors: unknown[] = new Array(data.length).fill(undefined);
  for (const [i, item] of data.entries()) {
    const index = readMember(item, 'index');
    vectors[typeof index === 'number' && index in data ? index : i] = readMember(item, 'embedding');
  }
  return vectors;
}

function readMember(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function buildAddress(
  { environment }: Environment,
  variable: string,
  usual: string,
): { url: URL; trusted: boolean } {
  const value = environment[variable]?.trim();
  if (!value) return { url: new URL(usual), trusted: false };
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const usable = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '';
  if (!usable) notConfigured(`${variable} is not an http or https URL without credentials`);
  return { url, trusted: true };
}

function under(base: URL, path: string): URL {
  return new URL(`${base.origin}${base.pathname.replace(/\/+$/, '')}/${path}`);
}

function readCredential({ environment, withheld }: Environment, variable: string): string {
  const credential = environment[variable]?.trim();
  if (!credential) {
    const why = withheld?.[variable];
    if (why !== undefined) notConfigured(why, 'Set both in the same place.');
    notConfigured(`the environment variable ${variable} is not set`);
  }
  if (!/^[\x21-\x7e]+$/.test(credential))
    notConfigured(`${variable} holds characters that no header may carry`);
  return credential;
}
