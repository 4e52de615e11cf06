// Status lines of answers that are no errors; those of errors are known to http-error.ts alone.

export const okStatus = '200 OK';
export const noContentStatus = '204 No Content';
export const notModifiedStatus = '304 Not Modified';
