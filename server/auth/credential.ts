// What a request shows to say who it is: its text, and the digest that it is judged by.
import { createHash, hash } from 'node:crypto';
import type { Exchange } from '../http/exchange.js';

export interface Credential {
  text: string;
  /** SHA-256 of the text. */
  digest: Buffer;
}

/** SHA-256 of a key's text. */
export const digestOf: (text: string) => Buffer =
  // Half the time, where this Node has it.
  typeof hash === 'function'
    ? (text) => hash('sha256', text, 'buffer')
    : (text) => createHash('sha256').update(text).digest();

/** The text that a request shows; empty for none. */
export const shownBy = ({ apiKey, authorization }: Exchange): string =>
  apiKey || bearer(authorization);

function bearer(authorization: string): string {
  if (authorization === '') return '';
  return /^bearer +(\S.*)$/i.exec(authorization)?.[1]?.trim() ?? '';
}
