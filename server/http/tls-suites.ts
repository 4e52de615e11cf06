// How TLS is spoken, by every transport. Invariant: no suite without authenticated encryption and forward secrecy,
// also under TLS 1.2: those that pad and sum have had one attack after another.

/** Of TLS 1.2, by the names of OpenSSL. */
export const suites12 = ['AES256-GCM-SHA384', 'AES128-GCM-SHA256', 'CHACHA20-POLY1305']
  .flatMap((cipher) => [`ECDHE-ECDSA-${cipher}`, `ECDHE-RSA-${cipher}`])
  .join(':');

/** Of both versions; all of TLS 1.3 are such. */
export const suites = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  suites12,
].join(':');
