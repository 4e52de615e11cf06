// Chooses the transport: uWebSockets.js if it loads and is the expected build, else node:http, with one
// warning line.
import { announceHeaderBytes } from '../config/config.js';
import { loadUws, openUwsTransport, uwsNames } from '../http/uws-transport.js';
import { openNodeTransport } from '../http/node-transport.js';
import type { Log } from '../telemetry/log.js';
import { nativeFault } from '../http/native-check.js';
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
  const names: string[] = [];
  for (const name of uwsNames) {
    const fault = await nativeFault(name, buildOfOwn);
    if (fault === undefined) names.push(name);
    else reasons.push(fault);
  }
  const addOn = loadUws(names, (reason) => reasons.push(reason));
  if (addOn !== undefined) return openUwsTransport(addOn, options);
  const told = 'uWebSockets.js does not load here; node:http serves instead, more slowly';
  log('warn', told, { node: process.version, reasons });
  return openNodeTransport(options);
}
