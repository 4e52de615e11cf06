// Byte offsets of the fields in the head of a message. head.ts draws the layout.

export const headBytes = 64;
/** Bytes of the head of a signed message. */
export const signedHeadBytes = 104;

/** Offsets of the chain and of the checksum, which are not hashed into the chain. */
export const chainAt = 40;
export const sumAt = 60;

/** Signed messages only: offsets of the key id and of the signature. */
export const keyAt = 64;
export const macAt = 72;
export const macBytes = 32;
