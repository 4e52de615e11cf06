// Generates messages that call tools, in both protocol styles and as several clients write them, with
// mutations: other ids, other arguments, lost, doubled or inserted bytes, names in escapes, duplicate
// members.
import type { Head } from './plain-reading.js';

export interface Message {
  body: Buffer;
  head: Head;
}

const version = '2026-07-28';
const meta = `{"io.modelcontextprotocol/protocolVersion":"${version}","io.modelcontextprotocol/clientCapabilities":{}}`;
const none: Head = { version: '', method: '', name: '' };

/** As the SDKs for TypeScript and Python write them, and as people do. */
type Layout = (id: string, name: string, args: string) => string;
const legacyLayouts: Layout[] = [
  (id, name, args) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`,
  (id, name, args) =>
    `{"method":"tools/call","params":{"name":"${name}","arguments":${args}},"jsonrpc":"2.0","id":${id}}`,
  (id, name, args) =>
    `{ "id" : ${id}, "jsonrpc": "2.0",\n"params": { "arguments": ${args} , "name": "${name}" }, "method": "tools\\/call" }`,
];
const modernLayouts: Layout[] = [
  (id, name, args) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args},"_meta":${meta}}}`,
  (id, name, args) =>
    `{"method":"tools/call","params":{"_meta":${meta},"name":"${name}","arguments":${args}},"jsonrpc":"2.0","id":${id}}`,
];

const ids =
  '1 7 0 10 123456789 9007199254740993 12345678901234567890 -3 1.5 1e2 01 -0 null true [] {} "a" "" "é" "\\u0061" "a\\"b" "\ud83c\udf32" " " "\\\\"'.split(
    ' ',
  );
/** Pairs that stand together between braces. */
const members = [
  '"n":42',
  '"n":9007199254740993',
  '"n":-9223372036854775808',
  '"n":"18446744073709551615"',
  '"n":1.0',
  '"n":01',
  '"\\u006e":5',
  '"s":"text"',
  '"s":"\\u00e9\\n\\"\\\\"',
  '"s":"\ud83c\udf32 } ] , _lim"',
  '"s":"\\ud800"',
  '"s":null',
  '"l":[1,9007199254740993,-2]',
  '"l":[]',
  '"l":[[[[1]]]]',
  '"x":{"n":1}',
  '"_limit_chars":15000',
  '"_limit_chars":0',
  '"_limit_chars":"9"',
  '"\\u005flimit_chars":15000',
  '"_limit_char":1',
];
const pieces =
  '"|\\|{|}|[|]|,|:|0|9|-|.|e|\\u0061|\\ud800|null|true|"n"|"id"|"id":5,|"name":"number",|"arguments":{},|"params":{},|"_meta":{},|"method":"ping",|\ufeff|é| |\n|\u0000|\u007f|_limit_chars|{"n":1}'.split(
    '|',
  );

/** `seed`: the same messages for the same. */
export function messageSource(seed: number, tools: readonly string[]) {
  let state = seed;
  const below = (count: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  const of = <T>(list: readonly T[]): T => list[below(list.length)]!;

  const args = (): string => {
    if (below(40) === 0) return of(['null', '[]', '5', '"x"', '']);
    if (below(40) === 0) return `{"x":${'['.repeat(below(70))}`;
    if (below(20) === 0) {
      const depth = 55 + below(12);
      return `{"n":1,"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    }
    const usual = ['"n":42', '"s":"text"', '"l":[1]'];
    const given = usual.map((one, i) => {
      if (below(3) > 0) return one;
      return of(members.filter((other) => other.startsWith(one.slice(0, 3)) || i === 2));
    });
    if (below(4) === 0) given.push(of(members));
    return `{${given.join(of([',', ', ', ' ,\n']))}}`;
  };

  const mutated = (body: Buffer): Buffer => {
    const [a, b] = [below(body.length + 1), below(body.length + 1)].sort((a, b) => a - b);
    const [from, to] = below(2) === 0 ? [a!, Math.min(a! + 1 + below(3), body.length)] : [a!, b!];
    const [head, cut, tail] = [body.subarray(0, from), body.subarray(from, to), body.subarray(to)];
    const kind = below(5);
    if (kind === 0) return Buffer.concat([head, tail]);
    if (kind === 1) return Buffer.concat([head, cut, cut, tail]);
    if (kind === 2) return Buffer.concat([head, Buffer.from(of(pieces)), cut, tail]);
    if (kind === 3) return Buffer.concat([head, Buffer.from([below(256)]), tail]);
    // A letter of a name in escapes.
    const text = body.toString();
    const at = text.search(new RegExp(of(['n', 'i', 'm', '_', 'a', 'p'])));
    const code = `\\u00${(text.codePointAt(at) ?? 0x6e).toString(16).padStart(2, '0')}`;
    return Buffer.from(at < 0 ? text : text.slice(0, at) + code + text.slice(at + 1));
  };

  const headOf = (name: string, isModern: boolean): Head => {
    if (!isModern) {
      return below(12) > 0 ? none : { ...none, version: of(['2025-06-18', version, '1']) };
    }
    const head = { version, method: 'tools/call', name };
    const coded = `=?base64?${Buffer.from(name).toString('base64')}?=`;
    const other = of<Partial<Head>>([
      { name: coded },
      { name: 'other' },
      { version: '' },
      { version: '2025-11-25' },
      { method: '' },
      { method: 'tools/list' },
    ]);
    return below(12) > 0 ? head : { ...head, ...other };
  };

  return {
    next(): Message {
      const isModern = below(2) === 0;
      const name = below(30) === 0 ? 'nobody' : of(tools);
      const layout = of(isModern ? modernLayouts : legacyLayouts);
      const id = below(3) > 0 ? String(below(100_000)) : of(ids);
      let body: Buffer = Buffer.from(layout(id, name, args()));
      for (let i = below(5); i > 2; i--) body = mutated(body);
      return { body, head: headOf(name, isModern) };
    },
  };
}
