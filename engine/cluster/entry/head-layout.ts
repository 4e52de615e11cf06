// Where what stands in the head of a message, as head.ts draws it.

export const headBytes = 64;
/** Of a message that is signed. */
export const signedHeadBytes = 104;

/** Where the chain and the checksum stand, which are not hashed into the chain. */
export const chainAt = 40;
export const sumAt = 60;

/** Of a signed one: the number of its key, and the signature. */
export const keyAt = 64;
export const macAt = 72;
export const macBytes = 32;
