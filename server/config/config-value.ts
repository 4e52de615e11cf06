// Converts TOML values and texts into checked values of the configuration, and describes the allowed values
// in messages.
import { Check } from 'typebox/schema';
import { excerpt, fail } from '../../engine/internal.js';
import type { KeySchema } from './config-schema.js';

const multiples: Record<string, Record<string, number>> = {
  milliseconds: { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 },
  bytes: { '': 1, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 },
};

/**
 * Parses texts such as `30s` and `16 MiB`. A bare number is in milliseconds or bytes. Returns undefined for
 * another text.
 */
function readQuantity(text: string, unit: 'bytes' | 'milliseconds'): number | undefined {
  const match = /^([0-9]{1,16}(?:\.[0-9]{1,6})?) ?([A-Za-z]*)$/.exec(text.trim());
  if (!match) return undefined;
  const factor = match[2] === '' ? 1 : multiples[unit]![match[2]!];
  return factor === undefined ? undefined : Math.round(Number(match[1]) * factor);
}

/**
 * Converts the text of a flag or variable to the type of its key. Returns other texts unchanged, so that they
 * fail the check.
 */
function readText(text: string, schema: KeySchema): unknown {
  if (schema.unit !== undefined) return readQuantity(text, schema.unit);
  switch (schema.type) {
    case 'integer':
    case 'number':
      return /^-?[0-9]+(\.[0-9]+)?$/.test(text.trim()) ? Number(text) : text;
    case 'boolean':
      return text === 'true' || text === '1'
        ? true
        : text === 'false' || text === '0'
          ? false
          : text;
    case 'array':
      return text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
    default:
      return text;
  }
}

/** Describes the allowed values of a key for a message: `an integer from 1 to 64`. */
function describeAllowed(schema: KeySchema): string {
  const { type, minimum, maximum, unit } = schema;
  if (schema.enum !== undefined) return schema.enum.map((option) => `"${option}"`).join(' or ');
  if (type === 'boolean') return 'true or false';
  if (type === 'string') return schema.form ?? 'a string';
  if (type === 'array') return 'a list of strings';
  const noun = type === 'integer' ? 'an integer' : 'a number';
  const range = `from ${minimum} to ${maximum}`;
  if (schema.auto) return `"auto" or ${noun} ${range}`;
  if (unit === 'milliseconds') return `a time ${range} ms, such as "30s" (ms, s, m, h)`;
  if (unit === 'bytes') return `a size ${range} bytes, such as "16MiB" (KiB, MiB, GiB)`;
  return `${noun} ${range}`;
}

/**
 * Returns the checked value of a key, from a text (flag, environment) or a parsed file. Fails CONFIG_INVALID
 * with the key, its source and the allowed values.
 */
export function readValue(key: string, schema: KeySchema, raw: unknown, source: string): unknown {
  if (raw === 'auto' && schema.auto) return schema.default;
  const fromText = source.startsWith('flag') || source.startsWith('environment');
  let value = raw;
  if (typeof raw === 'string' && (fromText || schema.unit !== undefined)) {
    value = readText(raw, schema);
  }
  if (schema.filled && typeof value === 'string') refuseBlank(key, value, source);
  if (value !== undefined && Check(schema, value)) return value;
  const got = schema.secret ? '***' : excerpt(JSON.stringify(raw) ?? String(raw));
  const what = `${key} must be ${describeAllowed(schema)}, got ${got} (${source}).`;
  return fail('CONFIG_INVALID', { what }, { hint: 'See `trellis config print`.' });
}

/** Refuses an empty secret. Otherwise the server would start without a key, or without TLS. */
function refuseBlank(key: string, value: string, source: string): void {
  if (value.trim() !== '' && value.trim() === value) return;
  const what =
    value.trim() === ''
      ? `${key} is named, but empty (${source}).`
      : `${key} begins or ends with white space (${source}).`;
  const hint =
    value.trim() === ''
      ? 'Give it its value, or leave it out altogether.'
      : 'No caller could send it: write it without, or leave it out altogether.';
  fail('CONFIG_INVALID', { what }, { hint });
}
