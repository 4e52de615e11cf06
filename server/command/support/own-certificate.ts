// Makes commands trust the certificate of the server of this project on this machine. They read the same
// `tls.cert` as the server.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { checkServerIdentity } from 'node:tls';
import type { Config } from '../../config/config.js';

/**
 * Returns request options that accept the certificate in `tls.cert`, even if it is self-signed or for another host
 * name. They are empty without TLS, and if the file cannot be read: then the roots of Node decide.
 */
export function trustOwnCertificate({ tls }: Pick<Config, 'tls'>): RequestOptions {
  if (tls.cert === '') return {};
  try {
    const ca = readFileSync(tls.cert);
    const { raw } = new X509Certificate(ca);
    const checkIdentity: typeof checkServerIdentity = (host, peer) =>
      raw.equals(peer.raw) ? undefined : checkServerIdentity(host, peer);
    return { ca, allowPartialTrustChain: true, checkServerIdentity: checkIdentity };
  } catch {
    return {};
  }
}
