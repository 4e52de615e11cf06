// Parses Prometheus' text format 0.0.4 as strictly as Prometheus' own checker, so that a test sees which
// lines a scrape would lose. It reports lines of another form, metrics without help or type, metrics outside
// of their family or twice, and names that contradict their type.

export interface Scrape {
  /** By name and labels as printed. */
  samples: Map<string, number>;
  /** Names of the families, in their order. */
  families: string[];
  faults: string[];
}

const sampleForm =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (\S+)$/;
const helpForm = /^# HELP ([a-z][a-z0-9_]*) (\S.*)$/;
const typeForm = /^# TYPE ([a-z][a-z0-9_]*) (counter|gauge|histogram)$/;
const numberForm = /^(-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?|[+-]Inf|NaN)$/;
/** Units are base units, and a name does not say its type. */
const badUnit = /_(ms|millis|micros|milliseconds|kilobytes|percent|minutes|hours)(_|$)/;
const badEnd = /_(bucket|sum|count|counter|gauge|histogram)$/;

export function readScrape(text: string): Scrape {
  const scrape: Scrape = { samples: new Map(), families: [], faults: [] };
  const { samples, families, faults } = scrape;
  let family = { name: '', type: '', last: new Map<string, { le: number; count: number }>() };
  let helped = '';
  if (!text.endsWith('\n')) faults.push('the last line has no end');
  for (const line of text.split('\n').slice(0, -1)) {
    const help = helpForm.exec(line);
    const type = typeForm.exec(line);
    if (help) helped = help[1]!;
    else if (type) {
      const [, name = '', kind = ''] = type;
      if (helped !== name) faults.push(`${name} has no help`);
      if (families.includes(name)) faults.push(`${name} stands in two places`);
      if ((kind === 'counter') !== name.endsWith('_total')) faults.push(`${name} is a ${kind}`);
      if (badUnit.test(name) || badEnd.test(name)) faults.push(`${name} is no name`);
      families.push(name);
      family = { name, type: kind, last: new Map() };
    } else readSample(line);
  }
  return scrape;

  function readSample(line: string): void {
    const match = sampleForm.exec(line);
    if (match === null) return void faults.push(`not of the form: ${line}`);
    const [, name = '', labels = '', value = ''] = match;
    if (!numberForm.test(value)) faults.push(`${name} has the value ${value}`);
    if (samples.has(name + labels)) faults.push(`${name}${labels} stands twice`);
    samples.set(name + labels, value === '+Inf' ? Infinity : Number(value));
    const base = family.type === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name;
    if (base !== family.name) faults.push(`${name} stands in the family ${family.name}`);
    if (family.type === 'counter' && !(Number(value) >= 0)) faults.push(`${name} is ${value}`);
    if (family.type === 'histogram') readBucket(name, labels, Number(value));
  }

  /** Buckets ascend, the last is without bound and is the count. */
  function readBucket(name: string, labels: string, count: number): void {
    const le = /le="([^"]*)"/.exec(labels)?.[1];
    const rest = labels.replace(/,?le="[^"]*"/, '').replace('{}', '');
    const before = family.last.get(rest) ?? { le: -Infinity, count: 0 };
    if (name.endsWith('_bucket')) {
      const bound = le === '+Inf' ? Infinity : Number(le);
      if (!(bound > before.le) || count < before.count) faults.push(`${name}${labels} goes back`);
      family.last.set(rest, { le: bound, count });
    } else if (le !== undefined) faults.push(`${name} has a bound`);
    else if (name.endsWith('_count') && (before.le !== Infinity || before.count !== count))
      faults.push(`${name}${labels} is not its last bucket`);
    else if (!/_(count|sum)$/.test(name)) faults.push(`${name} is no part of a histogram`);
  }
}
