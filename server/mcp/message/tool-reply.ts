// Prints the result of a tool whose reply is not shortened: the same JSON as text and as structured content,
// written into one buffer. Invariant: the bytes are those of `resultReply` for the same members.
import type { Reply } from '../../pipeline/router.js';
import type { ProtocolStyle } from './protocol-version.js';
import type { Answer } from './method.js';
import { resultReply } from './rpc-reply.js';

/** The bytes around the id and the reply, for one protocol style. */
interface ToolReplyForm {
  before: Uint8Array;
  between: Uint8Array;
  after: Uint8Array;
}

/** The members that all results of a server have. */
export interface ResultForms {
  /** Members of `_meta` in every result of a modern request. */
  info: string;
  tool: Record<ProtocolStyle, ToolReplyForm>;
}

/** Beginning of every result of a modern request. */
const completed = '"resultType":"complete",';

export function resultFormsOf(version: string): ResultForms {
  const server = JSON.stringify({ name: 'trellisdb', version });
  const info = `"io.modelcontextprotocol/serverInfo":${server}`;
  const modern = toolReplyForm(completed, `,"_meta":{${info}}`);
  return { info, tool: { legacy: toolReplyForm('', ''), modern } };
}

/** A result: its members as JSON text, with `meta` as its `_meta`; or the reply of a tool. */
export function resultOf(
  { info, tool }: ResultForms,
  era: ProtocolStyle,
  id: string,
  { members, meta = '', reply }: Pick<Answer, 'members' | 'meta' | 'reply'>,
): Uint8Array | Reply {
  if (reply !== undefined) return toolReply(tool[era], id, reply);
  const leading = members === '' ? '' : `${members},`;
  if (era === 'modern') {
    const more = meta === '' ? '' : `,${meta}`;
    return resultReply(id, `${completed}${leading}"_meta":{${info}${more}}`);
  }
  return resultReply(id, meta === '' ? members : `${leading}"_meta":{${meta}}`);
}

/** `first` and `last`: members of every result, as JSON text with its commas. */
const toolReplyForm = (first: string, last: string): ToolReplyForm => ({
  before: Buffer.from(`,"result":{${first}"content":[{"type":"text","text":"`),
  between: Buffer.from('"}],"structuredContent":'),
  after: Buffer.from(`${last}}}`),
});

const start = Buffer.from('{"jsonrpc":"2.0","id":');

const quote = 0x22;
const backslash = 0x5c;

/**
 * `id`: JSON text. `reply`: an object as the engine prints it. In the text, only quotes and backslashes
 * of the reply need an escape.
 */
function toolReply(form: ToolReplyForm, id: string, reply: Uint8Array): Uint8Array {
  const { before, between, after } = form;
  const { length } = reply;
  let escapes = 0;
  for (let i = 0; i < length; i++) {
    const byte = reply[i]!;
    if (byte === quote || byte === backslash) escapes++;
  }
  const idBytes = Buffer.byteLength(id);
  const fixed = start.length + before.length + between.length + after.length;
  const out = Buffer.allocUnsafe(fixed + idBytes + 2 * length + escapes);
  out.set(start);
  let at = start.length;
  at = putText(out, at, id, idBytes);
  out.set(before, at);
  at += before.length;
  for (let i = 0; i < length; i++) {
    const byte = reply[i]!;
    if (byte === quote || byte === backslash) out[at++] = backslash;
    out[at++] = byte;
  }
  out.set(between, at);
  at += between.length;
  out.set(reply, at);
  out.set(after, at + length);
  return out;
}

/** Writes an id and returns the offset after it. Most ids are a few digits. */
function putText(out: Buffer, at: number, text: string, bytes: number): number {
  if (bytes === text.length && bytes < 16) {
    for (let i = 0; i < bytes; i++) out[at + i] = text.charCodeAt(i);
    return at + bytes;
  }
  return at + out.write(text, at);
}
