// Converts arguments as models send them to the types of a tool. Models send numbers and booleans as text,
// integers with a fraction of zero, and lists and objects as JSON text. For an absent optional they send
// empty text. `POST /<Query>` converts nothing.
// Invariant: a value of the right type keeps its bytes, so that no number passes through JSON.parse.
import { type JsonView, type Limits, scanBody, TrellisError } from '../../../engine/internal.js';
import { rawText } from '../message/json-rpc.js';

/** The type of an argument, as far as a conversion depends on it. */
export type ArgumentShape =
  | 'integer'
  | 'number'
  | 'boolean'
  /** Text: empty text is a value. */
  | 'string'
  /** Text of another form, such as a date: empty text stands for no value. */
  | 'formatted'
  | 'any'
  | { list: ArgumentShape }
  | { members: ReadonlyMap<string, { shape: ArgumentShape; optional: boolean }> };

const integerText = /^\s*(-?(?:0|[1-9]\d*))(?:\.0+)?\s*$/;
const numberText = /^\s*(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*$/;
const booleans: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['True', 'true'],
  ['false', 'false'],
  ['False', 'false'],
]);

/** Returns the arguments as JSON text; undefined if nothing is to be converted. */
export function coerceArguments(
  args: Uint8Array,
  shape: ArgumentShape,
  limits: Limits,
): string | undefined {
  return coerce(scanned(args, limits), shape);
}

/** Returns the scanned arguments, which are scanned a second time only if one is converted. */
export function scanCoerced(args: Uint8Array, shape: ArgumentShape, limits: Limits): Received {
  const received = scanned(args, limits);
  const text = coerce(received, shape);
  return text === undefined ? received : scanned(Buffer.from(text), limits);
}

const scanned = (body: Uint8Array, limits: Limits): Received => ({
  view: scanBody(body, limits),
  body,
  limits,
});

/** A value inside a scanned body. */
export interface Received {
  view: JsonView;
  body: Uint8Array;
  limits: Limits;
}

function coerce(received: Received, shape: ArgumentShape): string | undefined {
  const { view } = received;
  if (typeof shape === 'object') return coerceNested(received, shape);
  if (view.kind === 'number' && shape === 'integer') return integerOf(view);
  if (view.kind !== 'string') return undefined;
  switch (shape) {
    case 'integer':
      return integerText.exec(view.text())?.[1];
    case 'number':
      return numberText.exec(view.text())?.[1];
    case 'boolean':
      return booleans.get(view.text());
    default:
      return undefined;
  }
}

/** Returns the digits of a number such as 35.0 or 3.5e1 that is an integer. */
function integerOf(view: JsonView): string | undefined {
  if (view.integral) return undefined;
  const digits = integerText.exec(view.token())?.[1];
  if (digits !== undefined) return digits;
  const value = view.float();
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

function coerceNested(
  received: Received,
  shape: Exclude<ArgumentShape, string>,
): string | undefined {
  const { view } = received;
  const isList = 'list' in shape;
  if (view.kind === (isList ? 'array' : 'object')) {
    return isList ? coerceItems(received, shape.list) : coerceMembers(received, shape.members);
  }
  if (view.kind !== 'string') return undefined;
  const text = view.text();
  if (!text.trimStart().startsWith(isList ? '[' : '{')) return undefined;
  const inner = parsed(text, received.limits);
  return inner && (coerce(inner, shape) ?? text);
}

/** Returns a JSON text as a scanned value; undefined if it is none. */
function parsed(text: string, limits: Limits): Received | undefined {
  const body = Buffer.from(`{"value":${text}}`);
  try {
    const root = scanBody(body, limits);
    // Text that closes the object itself has more members than this one.
    if (root.length !== 1) return undefined;
    return { view: root.member('value')!, body, limits };
  } catch (error) {
    if (error instanceof TrellisError) return undefined;
    throw error;
  }
}

function coerceItems({ view, body, limits }: Received, shape: ArgumentShape): string | undefined {
  if (shape === 'number' && view.floats(new Float64Array(view.length)) < 0) return undefined;
  let isChanged = false;
  const items: string[] = [];
  for (let i = 0; i < view.length; i++) {
    const item = view.at(i);
    const changed = coerce({ view: item, body, limits }, shape);
    isChanged ||= changed !== undefined;
    items.push(changed ?? rawText(item, body));
  }
  return isChanged ? `[${items.join(',')}]` : undefined;
}

function coerceMembers(
  { view, body, limits }: Received,
  members: Extract<ArgumentShape, { members: unknown }>['members'],
): string | undefined {
  let isChanged = false;
  const texts: string[] = [];
  for (const name of view.names()) {
    const member = view.member(name)!;
    const known = members.get(name);
    if (known?.optional === true && known.shape !== 'string' && isEmptyText(member)) {
      isChanged = true;
      continue;
    }
    const changed = known && coerce({ view: member, body, limits }, known.shape);
    isChanged ||= changed !== undefined;
    texts.push(`${JSON.stringify(name)}:${changed ?? rawText(member, body)}`);
  }
  return isChanged ? `{${texts.join(',')}}` : undefined;
}

const isEmptyText = (view: JsonView): boolean => view.kind === 'string' && view.is('');
