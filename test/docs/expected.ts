// Compares what a block of the manual printed with the block behind it. What differs from run to run counts by its
// form: ids, dates, names of requests. `…` stands for any text, as a last item or a member for whatever follows.

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)$/;
const more = '…';

const forms = [uuid, date];

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

function escapeText(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Whether `got` is the text of the manual, in which `…` stands for anything. */
function isText(got: string, want: string): boolean {
  if (forms.some((form) => form.test(got) && form.test(want))) return true;
  const pattern = want.split(more).map(escapeText).join('[\\s\\S]*');
  return new RegExp(`^${pattern}$`).test(got);
}

const isObject = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first difference, or undefined. */
function jsonDifference(got: Json | undefined, want: Json, path: string): string | undefined {
  const differs = `${path || '/'}: the manual has ${JSON.stringify(want)}, got ${JSON.stringify(got)}`;
  if (want === more && got !== undefined) return undefined;
  if (typeof want === 'string')
    return typeof got === 'string' && isText(got, want) ? undefined : differs;
  if (Array.isArray(want)) {
    if (!Array.isArray(got)) return differs;
    const open = want.at(-1) === more;
    const items = open ? want.slice(0, -1) : want;
    if (open ? got.length < items.length : got.length !== items.length) return differs;
    return firstOf(items.map((item, i) => () => jsonDifference(got[i], item, `${path}/${i}`)));
  }
  if (!isObject(want)) return Object.is(got, want) ? undefined : differs;
  if (!isObject(got)) return differs;
  const open = Object.hasOwn(want, more);
  const names = Object.keys(want).filter((name) => name !== more);
  const extra = open ? [] : Object.keys(got).filter((name) => !names.includes(name));
  if (extra.length > 0) return `${path || '/'}: the manual lacks ${extra}`;
  return firstOf(
    names.map((name) => () => {
      // Requests are numbered as they come.
      if (name === 'request_id' && typeof got[name] === 'string') return undefined;
      return jsonDifference(got[name], want[name]!, `${path}/${name}`);
    }),
  );
}

function firstOf(checks: (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const found = check();
    if (found !== undefined) return found;
  }
  return undefined;
}

/** One JSON document, or one on each line. */
export function readDocuments(text: string): Json[] {
  try {
    return [JSON.parse(text) as Json];
  } catch {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line) => JSON.parse(line) as Json);
  }
}

/** What `got`, an output, has otherwise than the manual. */
export function difference(got: string, want: string, language: string): string | undefined {
  if (language !== 'json') {
    const lines = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => line.trimEnd());
    const [has, says] = [lines(got), lines(want)];
    return isText(has.join('\n'), says.join('\n'))
      ? undefined
      : `the manual has\n${says.join('\n')}\ngot\n${has.join('\n')}`;
  }
  return jsonDifference(readDocuments(got), readDocuments(want), '');
}
