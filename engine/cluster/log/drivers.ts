// Which driver speaks to a log: the scheme of its address says it. Invariant: the packages of a driver are
// loaded when an address names it, and never else.
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

/** That it offers them. Fails CONFIG_INVALID: a node would wait for what never comes. */
function checkOffers<T extends object>(
  whose: string,
  one: T | undefined,
  names: readonly (keyof T)[],
) {
  const missing = names.find((name) => typeof one?.[name] !== 'function');
  if (missing !== undefined)
    fail('CONFIG_INVALID', { what: `${whose} of \`cluster.log\` has no ${String(missing)}()` });
}

/** A module of the operator's own; it exports `driver`. */
async function ofTheOperator(url: string): Promise<LogDriver> {
  const { driver } = (await import(url).catch((error: Error) =>
    fail('CONFIG_INVALID', {
      what: `the driver of \`cluster.log\` cannot be loaded: ${error.message}`,
    }),
  )) as { driver: LogDriver };
  checkOffers('the driver', driver, ofADriver);
  return {
    create: (place) => driver.create(place),
    look: (place) => driver.look(place),
    open: async (place) => {
      const log = await driver.open(place);
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

/** Fails CONFIG_INVALID for a scheme that no driver has. */
export function driverOf(url: string): Promise<LogDriver> {
  const scheme = /^([a-z0-9]+):\/\//.exec(url)?.[1] ?? '';
  const driver = Object.hasOwn(drivers, scheme) ? drivers[scheme] : undefined;
  if (driver === undefined) fail('CONFIG_INVALID', { what: `\`cluster.log\` has no known scheme` });
  return driver(url);
}
