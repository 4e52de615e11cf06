// Random schemas for the oracle, as source text, with the values that live in them: few and
// repeated, so that things are equal, and at the ends of their ranges.
import type { Random } from '../random.js';

export interface WorldProperty {
  name: string;
  type: string;
  index: '' | 'INDEX ' | 'UNIQUE INDEX ';
  given: string;
}

export interface WorldType {
  kind: 'N' | 'V' | 'E';
  name: string;
  properties: WorldProperty[];
  from?: string;
  to?: string;
  unique?: boolean;
}

/** Names keep their type from type to type, so that unions of types may be filtered. */
export const propertyTypes: Record<string, string> = {
  name: 'String',
  note: 'String',
  size: 'I64',
  rank: 'I8',
  level: 'U8',
  serial: 'U64',
  huge: 'U128',
  ratio: 'F64',
  weight: 'F32',
  since: 'Date',
  owner: 'ID',
  flag: 'Boolean',
  tags: '[String]',
  codes: '[I64]',
  shares: '[F64]',
};

export const strayIds = [
  '00000000-0000-7000-8000-000000000000',
  'aaaaaaaa-aaaa-7aaa-8aaa-aaaaaaaaaaaa',
];

/** Values as they are written both in JSON and in a query. */
export const valueTexts: Record<string, readonly string[]> = {
  String: ['""', '"fern"', '"rose"', '"Fern rose"', '"sun"', '"é"', '"\u{1f600}"', '"\uffee"'],
  I8: ['-128', '127', '0', '1', '5', '-1'],
  U8: ['0', '1', '255', '5', '3'],
  I64: ['-9223372036854775808', '9223372036854775807', '0', '1', '-1', '5', '9007199254740993'],
  U64: ['0', '1', '18446744073709551615', '9007199254740993', '9007199254740992', '5'],
  U128: ['0', '5', '340282366920938463463374607431768211455', '18446744073709551616'],
  F64: ['0.0', '-0.0', '1.5', '0.1', '1e308', '-1.5', '5e-324', '9007199254740992.0', '5.0', '2.5'],
  F32: ['1.1', '0.1', '16777216.0', '1e-45', '3.4e38', '1.5', '0.0', '-2.0', '5.0'],
  Date: [
    '"2026-03-01T08:00:00Z"',
    '"2026-03-01T09:00:00+01:00"',
    '"2026-03-01"',
    '"0001-01-01"',
    '"9999-12-31T23:59:59.999999Z"',
    '"1969-12-31T23:59:59.5Z"',
  ],
  ID: strayIds.map((id) => `"${id}"`),
  Boolean: ['true', 'false'],
  '[String]': ['[]', '["fern"]', '["fern","rose"]', '["rose","fern"]', '[""]'],
  '[I64]': ['[]', '[1,2]', '[2,1]', '[9007199254740993]', '[1]'],
  '[F64]': ['[]', '[0.5]', '[1.5,2.5]'],
};

export const vectorTexts = ['[1.0,0.0]', '[0.0,1.0]', '[3.0,4.0]', '[0.0,0.0]', '[-1.0,0.0]'];

function propertiesOf(random: Random): WorldProperty[] {
  return random.some(Object.entries(propertyTypes), 0.45).map(([name, type]) => {
    const index = random.pick(['', '', 'INDEX ', 'INDEX ', 'UNIQUE INDEX '] as const);
    const isUnique = index === 'UNIQUE INDEX ';
    const given = !isUnique && !type.startsWith('[') && random.chance(0.15);
    return {
      name,
      type,
      index: isUnique && random.chance(0.6) ? '' : index,
      given: given ? ` DEFAULT ${random.pick(valueTexts[type]!)}` : '',
    };
  });
}

export function randomSchema(random: Random): WorldType[] {
  const ends: WorldType[] = [
    ...['Alder', 'Birch', 'Cedar'].map((name) => ({ kind: 'N' as const, name })),
    { kind: 'V' as const, name: 'Vine' },
  ].map((type) => ({ ...type, properties: propertiesOf(random) }));
  const edges = ['Feeds', 'Holds', 'Likes', 'Marks'].map((name): WorldType => {
    const to = name === 'Marks' ? 'Vine' : random.pick(ends).name;
    const from = name === 'Feeds' ? to : random.pick(ends).name;
    const unique = random.chance(0.2);
    return { kind: 'E', name, from, to, unique, properties: propertiesOf(random).slice(0, 3) };
  });
  return [...ends, ...edges];
}

export function printSchema(types: readonly WorldType[]): string {
  return types
    .map(({ kind, name, properties, from, to, unique }) => {
      const fields = properties.map((p) => `${p.index}${p.name}: ${p.type}${p.given}`).join(', ');
      if (kind !== 'E') return `${kind}::${name} { ${fields} }`;
      const mark = unique ? ' UNIQUE' : '';
      return `E::${name}${mark} { From: ${from}, To: ${to}, Properties: { ${fields} } }`;
    })
    .join('\n');
}
