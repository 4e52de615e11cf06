// What a message of the protocol is, read plainly and slowly: RFC 8259 one character after the other, then
// the order of checks of mcp.md 3.1 as it stands there. It knows nothing of the server's own reader.
export interface Read {
  kind: 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';
  /** As it was written. */
  raw: string;
  /** Of a string. */
  text: string;
  members: Map<string, Read>;
  items: Read[];
}

const depthMax = 64;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const literal = /true|false|null/y;
const plain = /[^"\\\u0000-\u001f]+/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Undefined: no JSON, or a member twice, or too deep, or half of a surrogate pair. */
export function readJson(bytes: Uint8Array): Read | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
  let at = 0;
  const take = (form: RegExp): string => {
    form.lastIndex = at;
    const token = form.exec(text)?.[0];
    if (token === undefined) throw new SyntaxError();
    at += token.length;
    return token;
  };
  const space = (): string | undefined => {
    while (' \t\r\n'.includes(text[at] ?? 'x')) at++;
    return text[at];
  };
  const string = (): string => {
    let value = '';
    for (at++; text[at] !== '"'; ) {
      value += text[at] === '\\' ? (JSON.parse(`"${take(escaped)}"`) as string) : take(plain);
    }
    at++;
    if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value)) {
      throw new SyntaxError();
    }
    return value;
  };
  const value = (depth: number): Read => {
    const first = space();
    const start = at;
    const read: Read = { kind: 'null', raw: '', text: '', members: new Map(), items: [] };
    if ((first === '{' || first === '[') && depth === depthMax) throw new SyntaxError();
    const list = (end: string, one: () => void): void => {
      at++;
      if (space() !== end) {
        for (one(); space() === ','; ) {
          at++;
          one();
        }
      }
      if (text[at++] !== end) throw new SyntaxError();
    };
    if (first === '{') {
      read.kind = 'object';
      list('}', () => {
        if (space() !== '"') throw new SyntaxError();
        const name = string();
        if (space() !== ':' || read.members.has(name)) throw new SyntaxError();
        at++;
        read.members.set(name, value(depth + 1));
      });
    } else if (first === '[') {
      read.kind = 'array';
      list(']', () => read.items.push(value(depth + 1)));
    } else if (first === '"') {
      read.kind = 'string';
      read.text = string();
    } else if (/[tfn]/.test(first ?? '')) {
      read.kind = take(literal) === 'null' ? 'null' : 'boolean';
    } else {
      read.kind = 'number';
      take(number);
    }
    read.raw = text.slice(start, at);
    return read;
  };
  try {
    const root = value(0);
    return space() === undefined ? root : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export interface Head {
  version: string;
  method: string;
  name: string;
}

export interface Expected {
  status: number;
  /** Of an error. */
  code?: number;
  /** As JSON text; undefined: no answer at all. */
  id?: string;
  call?: { name: string; args: Read | undefined };
}

const modernVersion = '2026-07-28';
const legacyVersions = ['', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const prefix = 'io.modelcontextprotocol/';
const both = ['tools/list', 'tools/call'];

export const isInteger = (read: Read | undefined): boolean => /^-?\d+$/.test(read?.raw ?? '');

/** `tools`: those that there are. */
export function expectedOf(body: Uint8Array, head: Head, tools: readonly string[]): Expected {
  const root = readJson(body);
  if (root === undefined) return { status: 400, code: -32700, id: 'null' };
  const { members } = root;
  const given = members.get('id');
  const isId = given === undefined || given.kind === 'string' || isInteger(given);
  const id = given === undefined || !isId ? 'null' : given.raw;
  const method = members.get('method');
  const isFrame = members.get('jsonrpc')?.text === '2.0' && method?.kind === 'string';
  if (root.kind !== 'object' || !isId || !isFrame) return { status: 400, code: -32600, id };
  if (given === undefined) return { status: 202 };
  return { id, ...judged(members.get('params'), method.text, head, tools) };
}

function judged(
  params: Read | undefined,
  method: string,
  head: Head,
  tools: readonly string[],
): Expected {
  const meta = params?.members.get('_meta')?.members ?? new Map<string, Read>();
  const isMarked = [...meta.keys()].some((name) => name.startsWith(prefix));
  const isModern = isMarked || head.version === modernVersion || method === 'server/discover';
  const fault = isModern ? modernFault(params, meta, method, head) : undefined;
  if (fault !== undefined) return { status: 400, code: fault };
  if (!isModern && !legacyVersions.includes(head.version)) return { status: 400, code: -32022 };
  const known = [...both, ...(isModern ? ['server/discover'] : ['ping'])];
  if (!known.includes(method)) return { status: isModern ? 404 : 200, code: -32601 };
  const wrong = { status: isModern ? 400 : 200, code: -32602 };
  if (params !== undefined && params.kind !== 'object') return wrong;
  if (method !== 'tools/call') return { status: 200 };
  const name = params?.members.get('name');
  const args = params?.members.get('arguments');
  const isCall = name?.kind === 'string' && tools.includes(name.text);
  if (!isCall || !['object', 'null'].includes(args?.kind ?? 'null')) return wrong;
  return { status: 200, call: { name: name.text, args } };
}

function modernFault(
  params: Read | undefined,
  meta: Map<string, Read>,
  method: string,
  head: Head,
): number | undefined {
  if (head.version === '' || head.method === '') return -32020;
  const version = meta.get(`${prefix}protocolVersion`);
  if (version?.kind !== 'string') return -32602;
  if (meta.get(`${prefix}clientCapabilities`)?.kind !== 'object') return -32602;
  if (version.text !== head.version) return -32020;
  if (version.text !== modernVersion) return -32022;
  if (method !== head.method) return -32020;
  const name = method === 'tools/call' ? params?.members.get('name') : undefined;
  const coded = /^=\?base64\?(.*)\?=$/.exec(head.name)?.[1];
  const said = coded === undefined ? head.name : Buffer.from(coded, 'base64').toString();
  return name?.kind === 'string' && name.text !== said ? -32020 : undefined;
}
