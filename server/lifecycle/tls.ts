// Finds, reads and checks the TLS files of the configuration before the listener opens.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fail, throwShortage, wallMs } from '../../engine/internal.js';
import type { Config } from '../config/config.js';
import type { Log } from '../telemetry/log.js';

export interface TlsFiles {
  cert: string;
  key: string;
}

/**
 * Returns the paths of certificate and key, or undefined without TLS. Fails CONFIG_INVALID. An expired
 * certificate only causes a warning.
 */
export function tlsFiles({ tls, projectDir }: Config, log: Log): TlsFiles | undefined {
  if (tls.cert === '' && tls.key === '') return undefined;
  if (tls.cert === '' || tls.key === '') {
    fail('CONFIG_INVALID', { what: 'tls.cert and tls.key are needed together.' });
  }
  const files = { cert: resolve(projectDir, tls.cert), key: resolve(projectDir, tls.key) };
  let certificate: X509Certificate;
  try {
    const [cert, key] = [readFileSync(files.cert), readFileSync(files.key)];
    // Fails for an empty key, for a key with a passphrase, and for the key of another certificate.
    createSecureContext({ cert, key });
    certificate = new X509Certificate(cert);
  } catch (error) {
    throwShortage(error);
    const what = `tls.cert or tls.key cannot be used: ${(error as Error).message}.`;
    return fail('CONFIG_INVALID', { what });
  }
  if (Date.parse(certificate.validTo) < wallMs()) {
    log('warn', 'the TLS certificate has expired', { valid_to: certificate.validTo });
  }
  return files;
}
