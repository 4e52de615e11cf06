// Status lines of answers that are not errors. Only http-error.ts knows those of errors.

export const okStatus = '200 OK';
export const noContentStatus = '204 No Content';
export const notModifiedStatus = '304 Not Modified';
