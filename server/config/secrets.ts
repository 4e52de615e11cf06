// Which parts of the configuration are secrets. Owns how it is printed for people. Invariant: what is
// printed holds no secret.
import type { Config } from './config.js';
import { schemaOf } from './config-schema.js';

const secretName = /(_API_KEY|_TOKEN|_SECRET)$/;

const isSecret = (key: string): boolean => secretName.test(key) || schemaOf(key)?.secret === true;

/** Every credential that was configured, those within addresses included. */
export function secretsOf({ settings }: Config): string[] {
  return [...settings].flatMap(([key, { value }]) => {
    if (typeof value !== 'string' || value === '') return [];
    if (isSecret(key)) return [value];
    const [, password] = /\/\/[^/@:"]*:([^/@"]+)@/.exec(value) ?? [];
    return password === undefined ? [] : [password];
  });
}

/** `key = value  # source`, one line each; secrets as `***`. */
export function printConfig(config: Config): string {
  const lines = [...config.settings].map(([key, { value, source }]) => {
    const secret = secretName.test(key) || (isSecret(key) && value !== '');
    // An address may carry a name and a password.
    const shown = JSON.stringify(value).replace(/\/\/[^/@"]*@/g, '//***@');
    return `${key} = ${secret ? '***' : shown}  # ${source}`;
  });
  return lines.join('\n');
}
