// Validates responses of providers: returns usable vectors, or a message that is safe to show.
import { fail } from '../../base/errors.js';
import { readMember } from './provider-table.js';
import { visible } from '../../base/text/visible.js';

const messageMax = 200;
const dimensionsMax = 65_535;

/**
 * Returns the vector, or undefined if it is not a non-empty array of numbers that are finite as 32-bit
 * floats. A text is the base64 of 32-bit floats, little-endian.
 */
function checkVector(value: unknown): Float64Array | undefined {
  if (typeof value === 'string') return checkNumbers(decodeBase64(value));
  const isList =
    Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
  if (!isList) return undefined;
  return checkNumbers(value as readonly unknown[]);
}

function decodeBase64(text: string): number[] {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return [];
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0) return [];
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));
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

/** Returns a usable vector for each of `texts` texts. Fails EMBEDDING_FAILED. */
export function checkVectors(
  vectors: readonly unknown[],
  texts: number,
  who: { provider: string; status: number | string },
): Float64Array[] {
  if (vectors.length !== texts) {
    const detail = `the answer holds ${vectors.length} vectors for ${texts} texts`;
    fail('EMBEDDING_FAILED', { ...who, detail });
  }
  const detail = 'the answer holds no usable vector';
  return vectors.map((each) => checkVector(each) ?? fail('EMBEDDING_FAILED', { ...who, detail }));
}

/** Returns up to 200 characters of a provider's error message, on one line, without the credential. */
export function extractMessage(body: string, credential: string | undefined): string {
  const detail = innerMessage(body) ?? body;
  const safe = credential === undefined ? detail : withoutParts(detail, credential);
  let message = '';
  let count = 0;
  for (const character of visible(safe.replace(/[\s\u0000-\u001f\u007f-\u009f]+/gu, ' ').trim())) {
    if (count++ === messageMax) return `${message}…`;
    message += character;
  }
  return message || 'no message';
}

/**
 * Minimum length of a part of a credential that must be hidden; providers show shorter ones to identify it.
 */
const partMin = 8;
/** Maximum number of characters of a provider's message that are read. */
const readMax = 4_096;

/**
 * Replaces every word that contains a part of the credential by `***`, even if the part is cut or inside
 * another word.
 */
function withoutParts(text: string, credential: string): string {
  const parts = new Set<string>();
  for (let i = 0; i + partMin <= credential.length; i++) {
    parts.add(credential.slice(i, i + partMin));
  }
  const whole = text.slice(0, readMax).replaceAll(credential, '***');
  return whole.replace(/[\w%+/=~-]{8,}/g, (word) => {
    for (let i = 0; i + partMin <= word.length; i++) {
      if (parts.has(word.slice(i, i + partMin))) return '***';
    }
    return word;
  });
}

/** Returns `error.message`, `error`, `message` or `detail` of a response, or undefined if it has none. */
export function messageIn(answer: unknown): string | undefined {
  const error = readMember(answer, 'error');
  const found = [readMember(error, 'message'), error, readMember(answer, 'message')];
  return [...found, readMember(answer, 'detail')].find((one) => typeof one === 'string');
}

function innerMessage(body: string): string | undefined {
  try {
    return messageIn(JSON.parse(body));
  } catch {
    return undefined;
  }
}
