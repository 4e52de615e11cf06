// The time that a call may take.
import type { Exchange } from '../http/exchange.js';

/** The endpoint's, lowered by the request's header (http.md 3.8). */
export function budgetOf(exchange: Exchange, budgetMs: number): number {
  const text = exchange.timeoutHeader;
  if (text === '' || !/^[1-9][0-9]{0,14}$/.test(text)) return budgetMs;
  return Math.min(budgetMs, Number(text));
}
