// Header fields of answers as names and values, and the status lines of answers that are not errors
// (http-error.ts has those of errors). Only a transport prints them.

/** Fields in the order in which they are sent. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Fields of every JSON answer. */
export const jsonHeaders: HeaderList = [
  ['Content-Type', 'application/json'],
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
];

export const noHeaders: HeaderList = [];

export const okStatus = '200 OK';
export const noContentStatus = '204 No Content';
export const notModifiedStatus = '304 Not Modified';
