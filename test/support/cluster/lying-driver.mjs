// A log that says ok where it should say behind: the driver of JetStream with its fence torn down. With it,
// two nodes lead at once; a checker that does not find that finds nothing. Named by the address
// `file:///…/lying-driver.mjs?dist=…&log=nats://…`, url-encoded.
const { searchParams } = new URL(import.meta.url);
const { driver: honest } = await import(searchParams.get('dist'));
const placeOf = (place) => ({ ...place, url: searchParams.get('log') });

export const driver = {
  create: (place) => honest.create(placeOf(place)),
  look: (place) => honest.look(placeOf(place)),
  async open(place) {
    const log = await honest.open(placeOf(place));
    const append = log.append.bind(log);
    log.append = async (...args) => {
      const outcome = await append(...args);
      return outcome === 'behind' ? 'ok' : outcome;
    };
    return log;
  },
};
