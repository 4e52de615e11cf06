// A defective log driver: the driver of JetStream without its fence, which reports success where it should
// refuse. With it, two nodes can lead at the same time, and a checker must detect that. Its address is
// `file:///…/faulty-driver.mjs?dist=…&log=nats://…`, url-encoded.
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
