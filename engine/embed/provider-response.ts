// Judging what a provider answered: vectors that may be used, or a message that may be shown.
import { fail } from '../base/errors.js';
import { visible } from '../base/text/visible.js';
import type { Embedder } from './embedder.js';

const messageMax = 200;
const dimensionsMax = 65_535;

/**
 * The vector, or undefined when it is not a non-empty array of numbers that are finite as 32-bit
 * floats.
 */
function checkVector(value: unknown): Float64Array | undefined {
  const isList =
    Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
  if (!isList) return undefined;
  return checkNumbers(value as readonly unknown[]);
}

function checkNumbers(value: readonly unknown[]): Float64Array | undefined {
  if (value.length === 0 || value.length > dimensionsMax) return undefined;
  const vector = new Float64Array(value.length);
  for (let i = 0; i < vector.length; i++) {
    const number: unknown = value[i];
    if (typeof number !== 'number' || !Number.isFinite(Math.fround(number))) return undefined;
    vector[i] = number;
  }
  return vector;
}

/** A usable vector for each of `texts` texts. Fails EMBEDDING_FAILED. */
export function checkVectors(
  given: readonly unknown[],
  texts: number,
  who: { provider: string; status: number | string },
): Float64Array[] {
  if (given.length !== texts) {
    const detail = `the answer holds ${given.length} vectors for ${texts} texts`;
    fail('EMBEDDING_FAILED', { ...who, detail });
  }
  const detail = 'the answer holds no usable vector';
  return given.map((each) => checkVector(each) ?? fail('EMBEDDING_FAILED', { ...who, detail }));
}

/** Somebody's own embedder, judged as a provider is. */
export const judged = (own: Embedder): Embedder => ({
  async embed(model, texts, deadline) {
    const given: unknown = await own.embed(model, texts, deadline);
    const who = { provider: 'the embedder', status: 'wrongly' };
    return checkVectors(Array.isArray(given) ? given : [], texts.length, who);
  },
});

/** Up to 200 characters of what the provider says is wrong, on one line, the credential cut out. */
export function messageOf(body: string, credential: string | undefined): string {
  const said = innerMessage(body) ?? body;
  const safe = credential === undefined ? said : withoutPieces(said, credential);
  let message = '';
  let count = 0;
  for (const character of visible(safe.replace(/[\s\u0000-\u001f\u007f-\u009f]+/gu, ' ').trim())) {
    if (count++ === messageMax) return `${message}…`;
    message += character;
  }
  return message || 'no message';
}

/** Pieces of a credential this long are worth something; providers show shorter ones to name it. */
const pieceMin = 8;
/** Of what a provider says no more is ever shown. */
const readMax = 4_096;

/** Every word that holds a piece of the credential becomes `***`: cut short, or inside of others. */
function withoutPieces(text: string, credential: string): string {
  const pieces = new Set<string>();
  for (let i = 0; i + pieceMin <= credential.length; i++) {
    pieces.add(credential.slice(i, i + pieceMin));
  }
  const whole = text.slice(0, readMax).replaceAll(credential, '***');
  return whole.replace(/[\w%+/=~-]{8,}/g, (word) => {
    for (let i = 0; i + pieceMin <= word.length; i++) {
      if (pieces.has(word.slice(i, i + pieceMin))) return '***';
    }
    return word;
  });
}

/** `error.message`, `error` or `message` of a JSON body. */
function innerMessage(body: string): string | undefined {
  let parsed: { error?: { message?: unknown } | string; message?: unknown } | null;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  const { error, message } = parsed ?? {};
  const inner = typeof error === 'object' ? error?.message : (error ?? message);
  return typeof inner === 'string' ? inner : undefined;
}
