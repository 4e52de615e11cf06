// Chooses the transport: uWebSockets.js where it loads, else its twin on node:http, with one
// warning line.
import { announceHeaderBytes } from '../config/config.js';
import { loadUws, openUwsTransport } from '../http/http.js';
import { openNodeTransport } from '../http/http-node.js';
import type { Log } from '../observe/log.js';
import type { Transport, TransportOptions } from '../http/transport.js';

export async function openTransport(
  wanted: 'auto' | 'uws' | 'node',
  options: TransportOptions,
  log: Log,
): Promise<Transport> {
  if (wanted === 'node') return openNodeTransport(options);
  announceHeaderBytes(options.limits.header_bytes);
  const reasons: string[] = [];
  const uws = loadUws((reason) => reasons.push(reason));
  if (uws !== undefined) return openUwsTransport(uws, options);
  const told = 'uWebSockets.js does not load here; node:http serves instead, more slowly';
  log('warn', told, { node: process.version, reasons });
  return openNodeTransport(options);
}
