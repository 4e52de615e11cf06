// TLS cipher suites of all transports. Invariant: every suite has authenticated encryption and forward
// secrecy, also under TLS 1.2. The older CBC suites have had one attack after another.

/** Suites for TLS 1.2, by their OpenSSL names. */
export const suites12 = ['AES256-GCM-SHA384', 'AES128-GCM-SHA256', 'CHACHA20-POLY1305']
  .flatMap((cipher) => [`ECDHE-ECDSA-${cipher}`, `ECDHE-RSA-${cipher}`])
  .join(':');

/** Suites for TLS 1.2 and 1.3. All suites of TLS 1.3 satisfy the invariant. */
export const suites = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  suites12,
].join(':');
