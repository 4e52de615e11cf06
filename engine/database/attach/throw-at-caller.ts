// Gives an error the form that the callers of the public interface see. Inside the engine an expected error
// has no stack, because most of them become replies.
import { TrellisError } from '../../base/errors.js';

/**
 * Throws an error out of `method`, a function of the public interface. The stack then begins at the caller of
 * `method`, and a console prints code, status, path and hint instead of `data`.
 */
export function throwAtCaller(error: unknown, method: (...args: never[]) => unknown): never {
  if (error instanceof TrellisError && error.code !== 'INTERNAL') {
    Error.captureStackTrace(error, method);
    const { code, status, path, hint } = error;
    const shown = Object.entries({ code, status, path, hint })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, { value, enumerable: true, configurable: true }]);
    Object.defineProperties(error, {
      ...Object.fromEntries(shown),
      data: { enumerable: false, configurable: true },
    });
  }
  throw error;
}
