// Which driver speaks to a log: the scheme of its address says it. Invariant: the packages of a driver are
// loaded when an address names it, and never else.
import { fail } from '../../base/errors.js';
import type { LogDriver } from './replicated-log.js';

const jetstream = async (): Promise<LogDriver> => (await import('./jetstream.js')).driver;

const drivers: Record<string, (url: string) => Promise<LogDriver>> = {
  nats: jetstream,
  tls: jetstream,
  s3: async () => (await import('./s3.js')).driver,
  // A module of the operator's own; it exports `driver`.
  file: async (url) => ((await import(url)) as { driver: LogDriver }).driver,
};

/** Fails CONFIG_INVALID for a scheme that no driver has. */
export function driverOf(url: string): Promise<LogDriver> {
  const scheme = /^([a-z0-9]+):\/\//.exec(url)?.[1] ?? '';
  const driver = Object.hasOwn(drivers, scheme) ? drivers[scheme] : undefined;
  if (driver === undefined) fail('CONFIG_INVALID', { what: `\`cluster.log\` has no known scheme` });
  return driver(url);
}
