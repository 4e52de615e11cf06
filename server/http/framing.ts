// Checks the framing rules that the transports leave to the server: what a head may say about its body.
import type { Exchange } from './exchange.js';

const digits = /^[0-9]{1,15}$/;
/** A valid method. Any other bytes in its place are the rest of the body of an earlier request. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The error in the framing of a head, or undefined. The answer to a framing error closes the connection. */
export function framingError(exchange: Exchange): string | undefined {
  const { method, contentLengthCount, transferEncodingCount } = exchange;
  if (method !== 'POST' && !token.test(method)) return 'the method is no token';
  if (exchange.hostCount !== 1) {
    return exchange.hostCount === 0 ? 'there is no Host' : 'Host occurs twice';
  }
  if (contentLengthCount > 0) {
    if (contentLengthCount > 1) return 'Content-Length occurs twice';
    if (!digits.test(exchange.contentLength)) return 'Content-Length is not a number';
    if (transferEncodingCount > 0) return 'Content-Length and Transfer-Encoding are both present';
  }
  if (transferEncodingCount > 0) {
    if (transferEncodingCount > 1) return 'Transfer-Encoding occurs twice';
    if (exchange.transferEncoding.toLowerCase() !== 'chunked') {
      return 'Transfer-Encoding is not chunked';
    }
  }
  return undefined;
}

/** The body length that a head declares; 0 without Content-Length and for chunked bodies. */
export function declaredLength(exchange: Exchange): number {
  return exchange.contentLengthCount === 0 ? 0 : Number(exchange.contentLength);
}
