// Whole random queries for the oracle: those that load a world, those that read it, those that
// change it and read again, and one that shows everything there is.
import type { Stream } from './oracle-extension.js';
import { QueryWriter, type WorldParameter } from './oracle-query.js';
import { vectorTexts, type WorldType } from './oracle-schema.js';
import type { Random } from '../random.js';

export interface WorldQuery {
  name: string;
  text: string;
  parameters: WorldParameter[];
}

function finish(name: string, { parameters }: QueryWriter, body: readonly string[]): WorldQuery {
  const header = parameters.map((p) => `${p.name}${p.optional ? '?' : ''}: ${p.type}`).join(', ');
  return { name, parameters, text: `QUERY ${name}(${header}) =>\n  ${body.join('\n  ')}\n` };
}

/** Creates one element with every property given or not. */
export function loadQuery(
  random: Random,
  types: readonly WorldType[],
  type: WorldType,
): WorldQuery {
  const writer = new QueryWriter(random, types);
  const fields = type.properties.map((property) => {
    writer.parameters.push({ name: property.name, type: property.type, optional: true });
    return `${property.name}: ${property.name}`;
  });
  const set = `{${fields.join(', ')}}`;
  if (type.kind === 'N')
    return finish(`load${type.name}`, writer, [`x <- AddN<${type.name}>(${set})`, 'RETURN x']);
  if (type.kind === 'V') {
    writer.parameters.push({ name: 'vec', type: '[F64]', optional: false, element: 'vector' });
    return finish(`load${type.name}`, writer, [`x <- AddV<${type.name}>(vec, ${set})`, 'RETURN x']);
  }
  const end = (element: string, name: string) =>
    writer.parameters.push({ name, type: 'ID', optional: false, element });
  end(type.from!, 'a');
  end(type.to!, 'b');
  return finish(`load${type.name}`, writer, [
    `x <- AddE<${type.name}>(${set})::From(a)::To(b)`,
    'RETURN x',
  ]);
}

export function dumpQuery(types: readonly WorldType[]): WorldQuery {
  const edges = types.filter(({ kind }) => kind === 'E');
  const returns = types.map(({ kind, name }) => {
    if (kind === 'E') return `${name}: E<${name}>`;
    const out = edges.filter(({ from }) => from === name);
    const into = edges.filter(({ to }) => to === name);
    const members = [
      '..',
      'id',
      ...(kind === 'V' ? ['data'] : []),
      ...out.flatMap((e) => [
        `o${e.name}: _::OutE<${e.name}>::ID`,
        `p${e.name}: _::Out<${e.name}>::ID`,
      ]),
      ...into.flatMap((e) => [
        `i${e.name}: _::InE<${e.name}>::ID`,
        `j${e.name}: _::In<${e.name}>::ID`,
      ]),
    ];
    return `${name}: ${kind}<${name}>::{${members.join(', ')}}`;
  });
  return {
    name: 'dump',
    parameters: [],
    text: `QUERY dump() =>\n  RETURN { ${returns.join(', ')} }\n`,
  };
}

export function readQuery(random: Random, types: readonly WorldType[], name: string): WorldQuery {
  const writer = new QueryWriter(random, types);
  const body: string[] = [];
  for (let i = random.below(3); i > 0; i--) bind(writer, body);
  if (random.chance(0.15)) body.push(...path(writer));
  const answer = writer.answer(writer.chain(4));
  body.push(`r <- ${answer}`);
  const direct = writer.answer(writer.chain(2));
  const isNamed = /^[a-z]\w*(::|$)/.test(direct);
  body.push(`RETURN r${isNamed ? '' : `, ${direct}`}`);
  return finish(name, writer, body);
}

function bind(writer: QueryWriter, body: string[]): Stream {
  const stream = writer.chain(3);
  const name = writer.name('v');
  body.push(`${name} <- ${stream.text}`);
  const bound = { ...stream, text: name };
  writer.variables.push(bound);
  return bound;
}

/** A shortest path along an edge type between elements of one type. */
function path(writer: QueryWriter): string[] {
  const { random } = writer;
  const edge = random.pick(
    writer.types.filter(({ kind, from, to }) => kind === 'E' && from === to),
  );
  const start = writer.type(edge.from!);
  const [a, b] = [writer.parameter('ID', start.name), writer.parameter('ID', start.name)];
  const numbers = edge.properties.filter(({ type }) => /^[IUF]\d/.test(type));
  const weight = numbers.length > 0 ? `_::{${random.pick(numbers).name}}` : '1';
  const estimate = start.properties.find(({ type }) => /^[IUF]\d/.test(type))?.name ?? 'size';
  // Which edges may be followed.
  const own = numbers.length > 0 ? [`${weight}::GT(0)`, `!EXISTS(${weight}::GT(3))`] : [];
  const near = random.pick([...own, `_::Other::ID::NEQ(${a})`, `_::Other::{${estimate}}::GTE(1)`]);
  const condition = random.chance(0.4) ? near : undefined;
  const [only, also] = condition === undefined ? ['', ''] : [`(${condition})`, `, ${condition}`];
  const form = random.pick([
    `ShortestPath${only}`,
    `ShortestPathBFS${only}`,
    `ShortestPathDijkstras(${weight}${also})`,
    `ShortestPathAStar(ABS(${weight}), "${estimate}"${also})`,
    `ShortestPathDijkstras(ADD(${random.pick(['1', '2.5'])}, ABS(${weight}))${also})`,
  ]);
  const [, word, rest] = /^(\w+)(.*)$/.exec(form)!;
  const name = writer.name('v');
  const from = random.chance(0.5)
    ? `${start.kind}<${start.name}>(${a})`
    : `${start.kind}<${start.name}>`;
  const end = random.pick(['To', 'From']);
  return [`${name} <- ${from}::${word}<${edge.name}>${rest}::${end}(${b})`];
}

export function writeQuery(random: Random, types: readonly WorldType[], name: string): WorldQuery {
  const writer = new QueryWriter(random, types);
  const body: string[] = [];
  for (let i = random.below(3); i > 0; i--) bind(writer, body);
  for (let i = 1 + random.below(2); i > 0; i--) body.push(...change(writer));
  const answers = [...writer.variables.map(({ text }) => text), ...writer.counts];
  const last = writer.answer(writer.chain(2));
  const isNamed = /^[a-z]\w*(::|$)/.test(last);
  body.push(`RETURN ${[...answers, ...(isNamed ? [] : [last])].join(', ') || 'NONE'}`);
  return finish(name, writer, body);
}

function change(writer: QueryWriter): string[] {
  const { random, types } = writer;
  const name = writer.name('v');
  const keep = (text: string, type: string, many: boolean) => {
    writer.variables.push({ text: name, types: [type], many });
    return [`${name} <- ${text}`];
  };
  const type = random.pick(types);
  switch (random.below(13)) {
    case 9:
    case 10:
    case 11:
      return rareChange(writer, name, keep);
    case 0:
    case 1: {
      const stream = writer.chain(2);
      const set = writer.assignments(writer.type(random.pick(stream.types)), '_');
      writer.variables.push({ ...stream, text: name });
      return [`${name} <- ${stream.text}::UPDATE(${set})`];
    }
    case 2: {
      const gone = writer.chain(2).text;
      if (random.chance(0.5)) return [`DROP ${gone}`];
      writer.counts.push(name);
      return [`${name} <- DROP ${gone}`];
    }
    case 3:
      return edge(writer, keep);
    case 4:
      return upsert(writer, type, keep);
    case 5: {
      const stream = writer.chain(1);
      const set = writer.assignments(writer.type(stream.types[0]!), '_');
      return [
        `FOR x IN ${stream.text} { x::UPDATE(${set}) }`
          .replace('x IN', `${name} IN`)
          .replace('{ x', `{ ${name}`),
      ];
    }
    case 6: {
      const list = writer.parameter('[String]');
      const node = random.pick(types.filter(({ kind }) => kind === 'N'));
      const set = node.properties.find(({ name: own }) => own === 'name')
        ? `{name: ${name}}`
        : '{}';
      return [`FOR ${name} IN ${list} { AddN<${node.name}>(${set}) }`];
    }
    default: {
      if (type.kind === 'E') return edge(writer, keep);
      const set = writer.assignments(type, undefined);
      if (type.kind === 'N') return keep(`AddN<${type.name}>(${set})`, type.name, false);
      return keep(`AddV<${type.name}>(${random.pick(vectorTexts)}, ${set})`, type.name, false);
    }
  }
}

/** Loops over objects and elements, edges from every row, vectors in a batch. */
function rareChange(writer: QueryWriter, name: string, keep: Keep): string[] {
  const { random, types } = writer;
  const nodes = types.filter(({ kind }) => kind === 'N');
  const node = random.pick(nodes);
  const field = node.properties.find(({ type }) => type === 'String' || type === 'I64');
  switch (random.below(6)) {
    case 0: {
      if (field === undefined) return [];
      const rows = writer.parameter(`[{${field.name}: ${field.type}}]`);
      const [a, b] = [writer.name('v'), writer.name('v')];
      return random.pick([
        [`FOR ${a} IN ${rows} { AddN<${node.name}>({${field.name}: ${a}.${field.name}}) }`],
        [
          `FOR ${a} IN ${rows} { ${b} <- AddN<${node.name}>({${field.name}: ${a}.${field.name}})`,
          `  ${b}::UPDATE(${writer.assignments(node, '_')}) }`,
        ],
      ]);
    }
    case 1: {
      if (field === undefined) return [];
      return [`FOR {${field.name}} IN N<${node.name}> { AddN<${node.name}>({${field.name}}) }`];
    }
    case 2: {
      const outer = writer.chain(1);
      const inner = writer.graphStep({ text: name, types: outer.types, many: false });
      if (inner === undefined) return [];
      const each = writer.name('v');
      const set = writer.assignments(writer.type(inner.types[0]!), '_');
      return [
        `FOR ${name} IN ${outer.text} { FOR ${each} IN ${inner.text} { ${each}::UPDATE(${set}) } }`,
      ];
    }
    case 3: {
      const type = random.pick(types.filter(({ kind }) => kind === 'E'));
      const from = writer.type(type.from!);
      const end = writer.parameter('ID', type.to!);
      const start = `${from.kind}<${from.name}>${random.pick(['', '::RANGE(0, 1)', '::FIRST'])}`;
      return keep(
        `${start}::AddE<${type.name}>(${writer.assignments(type, undefined)})::To(${end})`,
        type.name,
        true,
      );
    }
    case 4: {
      const [first, second] = [random.pick(vectorTexts), random.pick(vectorTexts)];
      return keep(`BatchAddV<Vine>([${first}, ${second}])`, 'Vine', true);
    }
    default: {
      const held = writer.variables.at(-1);
      return held === undefined ? [] : [`DROP ${held.text}`];
    }
  }
}

type Keep = (text: string, type: string, many: boolean) => string[];

function edge(writer: QueryWriter, keep: Keep): string[] {
  const { random, types } = writer;
  const type = random.pick(types.filter(({ kind }) => kind === 'E'));
  const end = (name: string) => {
    const { kind } = writer.type(name);
    const fitting = writer.variables.filter((v) => v.types.length === 1 && v.types[0] === name);
    if (fitting.length > 0 && random.chance(0.5)) return random.pick(fitting).text;
    if (random.chance(0.2)) return `${kind}<${name}>`;
    if (random.chance(0.2)) return `${kind}<${name}>::RANGE(0, 1)`;
    return writer.parameter('ID', name);
  };
  const set = writer.assignments(type, undefined);
  const word = random.chance(0.3) ? 'UpsertE' : 'AddE';
  const text = `${word}<${type.name}>(${set})::From(${end(type.from!)})::To(${end(type.to!)})`;
  return keep(text, type.name, /<.*<|v\d/.test(text));
}

function upsert(writer: QueryWriter, type: WorldType, keep: Keep): string[] {
  const { random } = writer;
  const { kind, name } = type;
  const set = writer.assignments(type, random.chance(0.3) ? '_' : undefined);
  if (kind === 'E') {
    const ends = [writer.parameter('ID', type.from!), writer.parameter('ID', type.to!)];
    return keep(`E<${name}>::UpsertE(${set})::From(${ends[0]})::To(${ends[1]})`, name, false);
  }
  const chain = `${kind}<${name}>::WHERE(${writer.condition([name], 1)})`;
  const form = kind === 'N' ? `UpsertN(${set})` : `UpsertV(${random.pick(vectorTexts)}, ${set})`;
  return keep(`${chain}::${form}`, name, false);
}
