// Finds the driver of a log by the scheme of its address.
// Invariant: the packages of a driver are loaded only when an address names it.
import { fail } from '../../base/errors.js';
import type { LogDriver, ReplicatedLog } from './replicated-log.js';

const jetstream = async (): Promise<LogDriver> => (await import('./jetstream.js')).driver;

const ofADriver: readonly (keyof LogDriver)[] = ['open', 'create', 'look'];
const ofALog: readonly (keyof ReplicatedLog)[] = [
  'append',
  'read',
  'at',
  'first',
  'last',
  'size',
  'trim',
  'close',
];

/**
 * Checks that a module exports these functions. Fails CONFIG_INVALID, because a node would otherwise wait
 * forever.
 */
function checkOffers<T extends object>(
  whose: string,
  one: T | undefined,
  names: readonly (keyof T)[],
) {
  const missing = names.find((name) => typeof one?.[name] !== 'function');
  if (missing !== undefined)
    fail('CONFIG_INVALID', { what: `${whose} of \`cluster.log\` has no ${String(missing)}()` });
}

/** Loads a driver module of the operator. The module exports `driver`. */
async function ofTheOperator(url: string): Promise<LogDriver> {
  const { driver } = (await import(url).catch((error: Error) =>
    fail('CONFIG_INVALID', {
      what: `the driver of \`cluster.log\` cannot be loaded: ${error.message}`,
    }),
  )) as { driver: LogDriver };
  checkOffers('the driver', driver, ofADriver);
  return {
    create: (address) => driver.create(address),
    look: (address) => driver.look(address),
    open: async (address) => {
      const log = await driver.open(address);
      checkOffers('the log of the driver', log, ofALog);
      return log;
    },
  };
}

const drivers: Record<string, (url: string) => Promise<LogDriver>> = {
  nats: jetstream,
  tls: jetstream,
  s3: async () => (await import('./s3.js')).driver,
  file: ofTheOperator,
};

/** Returns the driver of an address. Fails CONFIG_INVALID for an unknown scheme. */
export function driverOf(url: string): Promise<LogDriver> {
  const scheme = /^([a-z0-9]+):\/\//.exec(url)?.[1] ?? '';
  const driver = Object.hasOwn(drivers, scheme) ? drivers[scheme] : undefined;
  if (driver === undefined) fail('CONFIG_INVALID', { what: `\`cluster.log\` has no known scheme` });
  return driver(url);
}
