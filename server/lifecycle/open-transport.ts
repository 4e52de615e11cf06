// Chooses the transport: uWebSockets.js if it loads and is the expected build, else node:http, with one
// warning line.
import { announceHeaderBytes } from '../config/config.js';
import { loadUws } from '../http/native/uws-add-on.js';
import { openUwsTransport } from '../http/uws-transport.js';
import { openNodeTransport } from '../http/node-transport.js';
import type { Log } from '../telemetry/log.js';
import { nativeError } from '../http/native/native-check.js';
import type { Transport, TransportOptions } from '../http/transport.js';

export async function openTransport(
  wanted: 'auto' | 'uws' | 'node',
  options: TransportOptions,
  log: Log,
  /** SHA-256 of the operator's own build of the add-on; empty for none. */
  buildOfOwn = '',
): Promise<Transport> {
  if (wanted === 'node') return openNodeTransport(options);
  announceHeaderBytes(options.limits.header_bytes);
  const reasons: string[] = [];
  const error = await nativeError(buildOfOwn);
  if (error !== undefined) reasons.push(error);
  const addOn = error === undefined ? loadUws((reason) => reasons.push(reason)) : undefined;
  if (addOn !== undefined) return openUwsTransport(addOn, options);
  const message = 'uWebSockets.js does not load here; node:http serves instead, more slowly';
  log('warn', message, { node: process.version, reasons });
  return openNodeTransport(options);
}
