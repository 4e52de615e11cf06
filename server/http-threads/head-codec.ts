// Encodes the header of a request as one text for the main thread, with one line for each field of an
// exchange. Invariant: decoding returns what was encoded. No field contains a line feed, because the
// transport refuses it.
import type { Exchange } from '../http/exchange.js';
import { readValues, writeValues } from '../http/request-headers.js';

export function writeHead(exchange: Exchange): string {
  const { method, path, query, isProxied } = exchange;
  const { hostCount, contentLengthCount, transferEncodingCount } = exchange;
  const counts = `${hostCount}\n${contentLengthCount}\n${transferEncodingCount}`;
  const line = `${exchange.peer()}\n${method}\n${path}\n${query}\n${counts}`;
  return `${line}\n${isProxied ? '1' : ''}\n${writeValues(exchange)}`;
}

/** Sets the fields of `exchange`. Returns the address of the client. */
export function readHead(text: string, exchange: Exchange): string {
  const lines = text.split('\n');
  exchange.method = lines[1]!;
  exchange.path = lines[2]!;
  exchange.query = lines[3]!;
  exchange.hostCount = Number(lines[4]);
  exchange.contentLengthCount = Number(lines[5]);
  exchange.transferEncodingCount = Number(lines[6]);
  exchange.isProxied = lines[7] === '1';
  readValues(lines, 8, exchange);
  return lines[0]!;
}
