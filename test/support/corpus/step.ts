// Runs one step of a case against a server and says what is wrong with the answer.
import { statusOfCode } from './catalogue.js';
import { checkAnswer } from './answer.js';
import {
  atPointer,
  type Exact,
  type ExactObject,
  parseExact,
  plainOf,
  printExact,
} from './exact-json.js';
import {
  Connection,
  ConnectionClosed,
  type Reply,
  type Request,
  requestBytes,
} from '../server/http.js';
import { difference, fillText, fillValue, type Names } from './match.js';
import { writeProject } from '../project.js';
import { boundOf } from '../run/figure.js';
import { type Server, StartFailed } from '../server/server.js';

interface Build {
  prefix?: string;
  unit?: string;
  times?: number;
  suffix?: string;
  members?: number;
}

/** Long texts as data: a unit repeated (`{i}` = running number), or an object with n members. */
export function buildText(build: Build): string {
  if (build.members !== undefined) {
    const members = Array.from({ length: build.members }, (_, i) => `"m${i}":${i}`);
    return `{${members.join(',')}}`;
  }
  const { prefix = '', unit = '', times = 0, suffix = '' } = build;
  const middle = unit.includes('{i}')
    ? Array.from({ length: times }, (_, i) => unit.replaceAll('{i}', String(i))).join('')
    : unit.repeat(times);
  return prefix + middle + suffix;
}

/** The bytes a step sends. */
export function bodyOf(step: ExactObject, names: Names): Buffer | undefined {
  const text = step.get('text');
  if (typeof text === 'string') return Buffer.from(fillText(text, names));
  const hex = step.get('hex');
  if (typeof hex === 'string') return Buffer.from(hex, 'hex');
  const build = step.get('build');
  if (build !== undefined) return Buffer.from(fillText(buildText(plainOf(build) as Build), names));
  const body = step.get('body');
  return body === undefined ? undefined : Buffer.from(printExact(fillValue(body, names)));
}

function headersOf(step: ExactObject, names: Names): Record<string, string | null> {
  const headers: Record<string, string | null> = {};
  const plain = (step.get('headers') ?? new Map()) as Map<string, string | null>;
  for (const [name, value] of plain) headers[name] = value === null ? null : fillText(value, names);
  const built = (step.get('headers_build') ?? new Map()) as ExactObject;
  for (const [name, build] of built) headers[name] = buildText(plainOf(build) as Build);
  return headers;
}

function requestOf(step: ExactObject, names: Names): Request {
  const method = ['post', 'get', 'head', 'options', 'put'].find((name) => step.has(name))!;
  const built = step.get('path_build');
  const path = built ? buildText(plainOf(built) as Build) : String(step.get(method));
  const headers = headersOf(step, names);
  const body = bodyOf(step, names);
  if (method === 'get' && body === undefined) {
    headers['Content-Type'] ??= null;
    headers['Content-Length'] ??= null;
  }
  return { method: method.toUpperCase(), path: fillText(path, names), headers, body };
}

/** What a step may expect, with the defaults filled in. */
function statuses(expect: ExactObject): (number | string)[] {
  const status = plainOf(expect.get('status') ?? null) as number | string | (number | string)[];
  if (status !== null) return Array.isArray(status) ? status : [status];
  const code = expect.get('code');
  if (code === undefined) return [200];
  const known = statusOfCode.get(String(code));
  if (known === undefined) throw new Error(`the case names an unknown code ${String(code)}`);
  return [known];
}

interface Answer {
  reply: Reply | undefined;
  connection: Connection;
  ms: number;
}

async function ask(server: Server, step: ExactObject, names: Names): Promise<Answer> {
  const raw = step.get('raw') ?? step.get('raw_hex');
  const own = raw !== undefined;
  const connection = own ? await Connection.open(server.port) : await server.client.open();
  const encoding = step.has('raw_hex') ? 'hex' : 'latin1';
  const bytes = own
    ? Buffer.from(fillText(String(raw), names), encoding)
    : requestBytes(requestOf(step, names));
  const started = Date.now();
  connection.send(bytes);
  let reply: Reply | undefined;
  try {
    const head = step.has('head') || (own && String(raw).startsWith('HEAD'));
    reply = await connection.reply({ head });
  } catch (error) {
    if (!(error instanceof ConnectionClosed)) {
      connection.close();
      throw error;
    }
  }
  if (own) setTimeout(() => connection.close(), 3000).unref();
  return { reply, connection, ms: Date.now() - started };
}

function checkHeaders(expect: ExactObject, reply: Reply, names: Names): string | undefined {
  for (const [name, want] of (expect.get('headers') ?? new Map()) as ExactObject) {
    const found = difference(reply.headers.get(name.toLowerCase()), want, names, name);
    if (found !== undefined) return `header ${found}`;
  }
  for (const name of (expect.get('no_headers') ?? []) as string[])
    if (reply.headers.has(name.toLowerCase())) return `header ${name} is present`;
  return undefined;
}

function checkBody(expect: ExactObject, reply: Reply, names: Names): string | undefined {
  const text = expect.get('text_contains');
  if (typeof text === 'string' && !reply.text.includes(fillText(text, names)))
    return `the answer does not contain ${text}`;
  const exact = expect.get('text');
  if (typeof exact === 'string' && reply.text !== fillText(exact, names))
    return `the answer is not exactly ${exact}`;
  const wants = ['code', 'path', 'json', 'body', 'error', 'hint'].some((name) => expect.has(name));
  if (!wants) return undefined;
  const answer = parseExact(reply.text);
  for (const name of ['code', 'path']) {
    const want = expect.get(name);
    const found = want && difference(atPointer(answer, `/${name}`), want, names, `/${name}`);
    if (found) return found;
  }
  for (const name of ['error', 'hint']) {
    const part = expect.get(name);
    if (
      part !== undefined &&
      !String(atPointer(answer, `/${name}`)).includes(fillText(String(part), names))
    )
      return `\`${name}\` does not contain ${String(part)}`;
  }
  for (const [pointer, want] of (expect.get('json') ?? new Map()) as ExactObject) {
    const found = difference(atPointer(answer, pointer), want, names, pointer);
    if (found !== undefined) return found;
  }
  const body = expect.get('body');
  return body === undefined ? undefined : difference(answer, body, names);
}

function save(step: ExactObject, reply: Reply, names: Names): string | undefined {
  const wanted = step.get('save');
  if (wanted === undefined) return undefined;
  const answer = parseExact(reply.text);
  if (wanted === true) {
    for (const [name, value] of answer as ExactObject) names.saved.set(name, value);
    return undefined;
  }
  for (const [name, pointer] of wanted as Map<string, string>) {
    const value = atPointer(answer, pointer);
    if (value === undefined) return `nothing at \`${pointer}\` to save`;
    names.saved.set(name, value);
  }
  return undefined;
}

async function judge(
  answer: Answer,
  step: ExactObject,
  expect: ExactObject,
  names: Names,
): Promise<string | undefined> {
  const { reply, connection, ms } = answer;
  const allowed = statuses(expect);
  const [least, most] = (plainOf(expect.get('within_s') ?? []) as number[]) ?? [];
  if (least !== undefined && (ms < least * 1000 || ms > boundOf(most! * 1000)))
    return `took ${ms} ms`;
  if (expect.get('closed') === true && !(await connection.closed(20_000)))
    return 'the connection stays open';
  if (reply === undefined)
    return allowed.includes('closed') ? undefined : 'the connection was closed without an answer';
  if (!allowed.includes(reply.status)) return `status ${reply.status}, wanted ${allowed}`;
  return (
    checkAnswer(reply, allowed.includes('closed') || reply.status === 431) ??
    checkHeaders(expect, reply, names) ??
    checkBody(expect, reply, names) ??
    save(step, reply, names)
  );
}

const isObject = (value: Exact | undefined): value is ExactObject => value instanceof Map;

/** `text_contains` can occur together with `expect`. */
function expectOf(step: ExactObject, fallback: ExactObject | undefined): ExactObject {
  const own = step.get('expect');
  const expect = new Map(isObject(own) ? own : fallback);
  const text = step.get('text_contains');
  if (text !== undefined) expect.set('text_contains', text);
  return expect;
}

/** With `expect.exit` the start must be refused; the next restart then starts from there. */
async function restart(server: Server, step: ExactObject, names: Names): Promise<void> {
  const expect = plainOf(step.get('expect') ?? new Map()) as { exit?: number; mentions?: string[] };
  if (server.child.exitCode === null) await server.stop();
  try {
    await server.start();
  } catch (error) {
    if (!(error instanceof StartFailed) || error.exit.code !== expect.exit) throw error;
    for (const text of expect.mentions ?? [])
      if (!error.output.includes(fillText(text, names)))
        throw new Error(`no \`${text}\` in:\n${error.output}`);
    return;
  }
  if (expect.exit !== undefined) throw new Error(`started, but exit ${expect.exit} was wanted`);
}

/**
 * Sends a request many times at once, and again until one of the answers is the expected one. No time is
 * in the expectation: on a slow machine the requests of a round may fall into several seconds.
 */
async function runTogether(
  server: Server,
  step: ExactObject,
  expect: ExactObject,
  names: Names,
): Promise<void> {
  const count = Number(plainOf(step.get('together')!));
  const bytes = requestBytes(requestOf(step, names));
  const open = await Promise.all(Array.from({ length: count }, () => Connection.open(server.port)));
  const end = Date.now() + 40_000;
  try {
    for (;;) {
      for (const connection of open) connection.send(bytes);
      const faults = await Promise.all(
        open.map(async (connection) => {
          const reply = await connection.reply();
          return judge({ reply, connection, ms: 0 }, step, expect, names);
        }),
      );
      if (faults.includes(undefined)) return;
      if (Date.now() > end) throw new Error(`${printExact(step).slice(0, 600)}\n  ${faults[0]}`);
    }
  } finally {
    for (const connection of open) connection.close();
  }
}

/** Throws an error that names the step, what was wrong, and the answer. */
export async function runStep(
  server: Server,
  step: ExactObject,
  names: Names,
  fallback?: ExactObject,
): Promise<void> {
  const wait = step.get('wait_ms');
  if (wait !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, Number(plainOf(wait))));
    return;
  }
  if (step.get('restart') === true) {
    await restart(server, step, names);
    return;
  }
  const files = step.get('files');
  if (isObject(files)) {
    writeProject(server.project, { sources: plainOf(files) as Record<string, string> });
    return;
  }
  if (step.has('together')) {
    await runTogether(server, step, expectOf(step, fallback), names);
    return;
  }
  const answer = await ask(server, step, names);
  const fault = await judge(answer, step, expectOf(step, fallback), names);
  if (fault === undefined) return;
  const got = answer.reply ? `${answer.reply.status} ${answer.reply.text.slice(0, 1500)}` : 'none';
  throw new Error(`${printExact(step).slice(0, 600)}\n  ${fault}\n  answer: ${got}`);
}
