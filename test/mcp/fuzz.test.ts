// Sends any bytes to `POST /mcp`. The response equals the result of the full parser for the same bytes, and
// the result of a tool equals that of `POST /<Query>`, whichever way the server has read them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { defaultLimits } from '../../engine/base/limits.js';
import type { Exchange } from '../../server/http/exchange.js';
import { RpcError } from '../../server/mcp/message/rpc-reply.js';
import { readToolCall } from '../../server/mcp/tool/tool-call-message.js';
import { compile } from '../../engine/lang/compile.js';
import { type Message, messageSource } from './mutated-message.js';
import { plainArguments } from './argument/plain-coercion.js';
import { type Expected, expectedOf, isInteger, type Read, readJson } from './plain-reading.js';
import { type RunningMcp, startMcp } from './running-mcp.js';

const source = `
QUERY number(n: I64) => m <- n RETURN m
QUERY echo(n: I64, s: String, l: [I64]) =>
  a <- n
  b <- s
  c <- l
  RETURN a, b, c
`;
const tools = ['number', 'echo'];
const { program } = compile([{ path: 'main.hx', text: source }], { compat: false });
const isLong = process.env.TRELLIS_TEST_LONG === '1';

const limitName = '_limit_chars';

/** A reply as a tool gives it: integers beyond 53 bits are texts. */
function exact({ kind, raw, items, members }: Read): string {
  if (kind === 'array') return `[${items.map(exact).join(',')}]`;
  if (kind === 'object') {
    const all = [...members].map(([name, value]) => `${JSON.stringify(name)}:${exact(value)}`);
    return `{${all.join(',')}}`;
  }
  const isWide = kind === 'number' && !Number.isSafeInteger(Number(raw));
  return isWide ? `"${raw}"` : raw;
}

describe.each(['uws', 'node'] as const)('%s', (transport) => {
  let mcp: RunningMcp;
  beforeAll(async () => {
    mcp = await startMcp(transport, source);
  });
  afterAll(() => mcp.close());

  const send = async ({ body, head }: Message) => {
    const told = await mcp.post('mcp', body, {
      ...(head.version !== '' && { 'MCP-Protocol-Version': head.version }),
      ...(head.method !== '' && { 'Mcp-Method': head.method }),
      ...(head.name !== '' && { 'Mcp-Name': head.name }),
    });
    return { status: told.status, answer: readJson(Buffer.from(told.text)), text: told.text };
  };

  /** What the query itself answers, and how a tool says it. */
  const answerOf = async ({ name, args }: NonNullable<Expected['call']>) => {
    const given = [...(args?.members ?? [])];
    const limit = args?.members.get(limitName);
    if (limit !== undefined && !(isInteger(limit) && Number(limit.raw) >= 1)) {
      return { code: 'PARAM_VALUE' };
    }
    const rest = given.filter(([name]) => name !== limitName);
    const text = rest.map(([name, value]) => `${JSON.stringify(name)}:${value.raw}`).join();
    const { parameters } = program!.queries.find((query) => query.name === name)!.plan;
    const direct = await mcp.post(name, `{${text}}`);
    const isType = direct.status !== 200 && direct.json.code === 'PARAM_TYPE';
    const converted = isType && plainArguments(readJson(Buffer.from(`{${text}}`))!, parameters);
    const { status, text: reply } = converted ? await mcp.post(name, converted) : direct;
    const read = readJson(Buffer.from(reply))!;
    if (status !== 200) return { code: read.members.get('code')!.text };
    // What is cut is another test's.
    const isWhole = limit === undefined || Number(limit.raw) > 1_000;
    return { structured: isWhole ? exact(read) : undefined };
  };

  const check = async (message: Message): Promise<void> => {
    const expected = expectedOf(message.body, message.head, tools);
    const { status, answer, text } = await send(message);
    const error = answer?.members.get('error')?.members.get('code')?.raw;
    const told = { status, code: error && Number(error), id: answer?.members.get('id')?.raw };
    const { call, ...frame } = expected;
    expect(told, `${message.body}`).toEqual({ code: undefined, id: undefined, ...frame });
    if (call === undefined) return;
    const result = answer!.members.get('result')!.members;
    const { code, structured } = await answerOf(call);
    expect(result.get('isError')?.raw, text).toBe(code && 'true');
    const said = result.get('content')!.items[0]!.members.get('text')!.text;
    if (code !== undefined) expect(said, text).toMatch(new RegExp(`^${code}: `));
    if (structured === undefined) return;
    expect([result.get('structuredContent')!.raw, said], `${message.body}`).toEqual([
      structured,
      structured,
    ]);
  };

  test('M07 M11 answers are those of a plain reading, and of the query', async () => {
    const messages = messageSource(transport === 'uws' ? 11 : 12, tools);
    for (let i = 0; i < (isLong ? 20_000 : 300); i++) await check(messages.next());
  });
});

test('an HTTP thread reads the call that the full parser finds, and no other', () => {
  const rules = { limits: defaultLimits, bodyBytes: 4 * 2 ** 20, outputChars: 1_000 };
  const messages = messageSource(13, tools);
  let found = 0;
  for (let i = 0; i < (isLong ? 200_000 : 5_000); i++) {
    const { body, head } = messages.next();
    const exchange = { mcpVersion: head.version, mcpMethod: head.method, mcpName: head.name };
    const call = readCall(body, exchange as Exchange);
    const expected = expectedOf(body, head, tools);
    const given = expected.call?.args;
    if (call === undefined) {
      // A tool that does not exist is no call for the plain reading. A wrong limit is an error of the tool.
      const limit = given?.members.get(limitName);
      const isWrong = limit !== undefined && !(isInteger(limit) && Number(limit.raw) >= 1);
      expect(expected.call === undefined || isWrong, `${body}`).toBe(true);
    } else if (tools.includes(call.name)) {
      found++;
      expect([call.id, call.name], `${body}`).toEqual([expected.id, expected.call?.name]);
      const rest = [...(given?.members ?? [])].filter(([name]) => name !== limitName);
      const args = call.args.length === 0 ? undefined : readJson(call.args)!;
      const values = [...(args?.members ?? [])].map(([name, { raw }]) => [name, raw]);
      expect(values, `${body}`).toEqual(rest.map(([name, { raw }]) => [name, raw]));
    }
  }
  expect(found).toBeGreaterThan(isLong ? 20_000 : 500);

  function readCall(body: Buffer, exchange: Exchange) {
    try {
      return readToolCall(body, exchange, rules);
    } catch (error) {
      if (error instanceof RpcError || error instanceof TrellisError) return undefined;
      throw error;
    }
  }
});
