// Reads the key of the configuration, `auth.api_key`, usually set by TRELLIS_API_KEY. The value is the key,
// or `sha256:` and the digest of the key.
import { fail } from '../../engine/internal.js';
import { digestOf } from './credential.js';

const prefix = 'sha256:';
const digestForm = /^[0-9a-fA-F]{64}$/;
/** Minimum number of characters; a shorter key can be guessed. */
const lengthMin = 16;

/**
 * Whether the value is a digest without its prefix. This release reads it as a digest, the next one as a key.
 */
export const isBareDigest = (value: string): boolean => digestForm.test(value);

/**
 * The key that a command sends to a server. Empty if only the digest is configured, because a digest grants
 * no access.
 */
export const shownKey = (value: string): string =>
  value.startsWith(prefix) || isBareDigest(value) ? '' : value;

/** SHA-256 of the key, in hexadecimal digits. Fails CONFIG_INVALID. */
export function environmentDigest(value: string): string {
  if (value.startsWith(prefix)) {
    const digest = value.slice(prefix.length);
    if (!digestForm.test(digest)) {
      fail('CONFIG_INVALID', {
        what: '`auth.api_key` begins with `sha256:`, which 64 hexadecimal digits must follow',
      });
    }
    return digest.toLowerCase();
  }
  if (isBareDigest(value)) return value.toLowerCase();
  if (value.length < lengthMin) {
    const what = `\`auth.api_key\` has ${value.length} characters, and can be guessed; ${lengthMin} are the least`;
    const hint = 'Make one with `openssl rand -base64 24`, or a key with `trellis keys add`.';
    fail('CONFIG_INVALID', { what }, { hint });
  }
  return digestOf(value).toString('hex');
}
