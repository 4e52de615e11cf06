// Computes the timeout of a call.
import type { Exchange } from '../http/exchange.js';

/**
 * The timeout of the endpoint, or the shorter one in the header `X-Request-Timeout-Ms`. Ignores an invalid
 * header.
 */
export function budgetOf(exchange: Exchange, budgetMs: number): number {
  const text = exchange.timeoutHeader;
  if (text === '' || !/^[1-9][0-9]{0,14}$/.test(text)) return budgetMs;
  return Math.min(budgetMs, Number(text));
}
