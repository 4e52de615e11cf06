// Header fields of answers: names and values, never their text; only a transport prints them.

/** In the order in which they are sent. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Of every JSON answer. */
export const jsonHeaders: HeaderList = [
  ['Content-Type', 'application/json'],
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
];

export const noHeaders: HeaderList = [];
