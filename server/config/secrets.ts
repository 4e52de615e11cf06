// Decides which parts of the configuration are secrets, and prints the configuration. Invariant: the printed
// text has no secret.
import type { Config } from './config.js';
import { schemaOf } from './config-schema.js';

const secretName = /(_API_KEY|_TOKEN|_SECRET)$/;

const isSecret = (key: string): boolean => secretName.test(key) || schemaOf(key)?.secret === true;

/** Returns all configured credentials, including passwords in addresses. */
export function secretsOf({ settings }: Config): string[] {
  return [...settings].flatMap(([key, { value }]) => {
    if (typeof value !== 'string' || value === '') return [];
    if (isSecret(key)) return [value];
    const [, password] = /\/\/[^/@:"]*:([^/@"]+)@/.exec(value) ?? [];
    return password === undefined ? [] : [password];
  });
}

/** Prints one line per key, `key = value  # source`, with secrets as `***`. */
export function printConfig(config: Config): string {
  const lines = [...config.settings].map(([key, { value, source }]) => {
    const secret = secretName.test(key) || (isSecret(key) && value !== '');
    // An address may contain a name and a password.
    const shown = JSON.stringify(value).replace(/\/\/[^/@"]*@/g, '//***@');
    return `${key} = ${secret ? '***' : shown}  # ${source}`;
  });
  return lines.join('\n');
}
