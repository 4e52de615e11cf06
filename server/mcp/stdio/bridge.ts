// `trellis mcp`: reads messages as lines, sends them to the server as requests, and writes its responses as
// lines. Invariant: only messages are written. Each request gets exactly one response unless it was
// cancelled. A call that the server may have run is not sent again.
import type { Readable, Writable } from 'node:stream';
import { type Limits, TrellisError } from '../../../engine/internal.js';
import { isModernFrame } from '../message/protocol-version.js';
import { errorReply, RpcError, rpcCodes } from '../message/rpc-reply.js';
import { type Frame, rawText, readFrame } from '../message/json-rpc.js';
import { failedCall } from '../tool/tool.js';
import { type Came, forward, type Target } from './forward.js';
import { LineReader } from './line-reader.js';
import { Listening } from './subscription-stream.js';
import type { ServerLink } from './server-link.js';

export interface BridgeOptions {
  input: Readable;
  output: Writable;
  link: Pick<ServerLink, 'find' | 'forget'>;
  /** Headers of every request. */
  headers: Readonly<Record<string, string>>;
  limits: Limits;
  /** Maximum size of a message in bytes. */
  messageBytesMax: number;
}

/** Longest wait for a server that has stopped. */
export const serverTimeoutMs = 10_000;
const againMs = 100;
/** Time for running calls after the end of the input. */
const lastWordsMs = 2_000;

/** Runs until the input ends or the output is closed. */
export async function runBridge(options: BridgeOptions): Promise<void> {
  const bridge = new Bridge(options);
  const { input, output } = options;
  const lines = new LineReader(options.messageBytesMax, (line) => bridge.take(line));
  const ended = new Promise<void>((resolve) => {
    input.on('end', resolve);
    input.on('close', resolve);
    input.on('error', () => resolve());
    output.on('error', () => resolve());
  });
  input.on('data', (bytes: Buffer) => lines.take(bytes));
  await ended;
  lines.end();
  await bridge.end();
}

class Bridge {
  /** Running requests by the JSON text of their ids. */
  readonly #calls = new Map<string, { stop: AbortController; done: Promise<void> }>();
  #isEnding = false;

  constructor(private readonly options: BridgeOptions) {}

  take(line: Buffer | undefined): void {
    let frame: Frame;
    try {
      const { limits, messageBytesMax } = this.options;
      if (line === undefined)
        throw new RpcError(rpcCodes.parse, `More than ${messageBytesMax} bytes`);
      frame = readFrame(line, limits, messageBytesMax);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.#print(bodyOf(error, error.id));
      return;
    }
    if (frame.id === undefined) this.#note(frame);
    else this.#begin(frame, frame.id);
  }

  /** Handles a notification. Only cancellations have an effect. */
  #note({ method, params, body }: Frame): void {
    if (method !== 'notifications/cancelled' || params?.kind !== 'object') return;
    const id = params.member('requestId');
    if (id !== undefined) this.#calls.get(rawText(id, body))?.stop.abort();
  }

  #begin(frame: Frame, id: string): void {
    const stop = new AbortController();
    const isListening = frame.method === 'subscriptions/listen';
    const run = isListening ? this.#listen(frame, stop.signal) : this.#call(frame, stop.signal);
    const done = run.finally(() => {
      if (this.#calls.get(id)?.stop === stop) this.#calls.delete(id);
    });
    this.#calls.set(id, { stop, done: isListening ? Promise.resolve() : done });
  }

  async #call(frame: Frame, signal: AbortSignal): Promise<void> {
    let answer: string;
    try {
      answer = lineOf(await this.#ask(frame, signal), frame.id!);
    } catch (error) {
      answer = failure(error, frame);
    }
    if (!signal.aborted) this.#print(answer);
  }

  /**
   * Sends a request until there is a response. Fails NOT_READY if no server responds for too long.
   */
  async #ask(frame: Frame, signal: AbortSignal): Promise<Came> {
    const { link, headers } = this.options;
    const latest = performance.now() + serverTimeoutMs;
    link.forget();
    for (;;) {
      const target = await link.find(latest);
      try {
        const came = await forward(target, { frame, headers, signal, onEvent: () => undefined });
        if (!isLeaving(came) || performance.now() > latest) return came;
      } catch (error) {
        if (signal.aborted || !mayRepeat(error, frame) || performance.now() > latest) {
          throw notReached(error, frame);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }

  async #listen(frame: Frame, signal: AbortSignal): Promise<void> {
    const listening = new Listening((line) => {
      if (!signal.aborted) this.#print(line);
    });
    try {
      while (!listening.isOver && !signal.aborted && !this.#isEnding) {
        await this.#runStream(frame, signal, listening);
      }
    } catch (error) {
      if (!signal.aborted) this.#print(failure(error, frame));
    }
  }

  /**
   * Runs one stream until it ends. If the stream was open before, it is opened again, without a limit of
   * attempts.
   */
  async #runStream(frame: Frame, signal: AbortSignal, listening: Listening): Promise<void> {
    const { link, headers } = this.options;
    const latest = performance.now() + serverTimeoutMs;
    try {
      // Only the first call can start a server.
      const target: Target = await link.find(latest, listening.isOpen ? false : undefined);
      const onEvent = (data: string): void => listening.take(data);
      const came = await forward(target, { frame, headers, signal, onEvent });
      if (came.status !== 0) listening.end(lineOf(came, frame.id!));
    } catch (error) {
      if (!listening.isOpen) throw notReached(error, frame);
    }
    if (!listening.isOver) await new Promise((resolve) => setTimeout(resolve, againMs).unref());
  }

  #print(line: string): void {
    const { input, output } = this.options;
    if (output.destroyed || output.write(`${line}\n`)) return;
    input.pause();
    output.once('drain', () => input.resume());
  }

  /** Waits a short time for the replies of running calls. */
  async end(): Promise<void> {
    this.#isEnding = true;
    const calls = [...this.#calls.values()];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, lastWordsMs)));
    await Promise.race([Promise.allSettled(calls.map(({ done }) => done)), late]);
    clearTimeout(timer);
    for (const { stop } of this.#calls.values()) stop.abort();
  }
}

const bodyOf = (error: RpcError, id: string): string => String(errorReply(error, id, true).body);

/** Returns whether the server reports that it is stopping. It has not run the request then. */
function isLeaving({ status, text }: Came): boolean {
  if (text.length > 4_096 || !text.includes('"code":"SHUTTING_DOWN"')) return false;
  return status === 503 || text.includes('"isError":true');
}

/**
 * Returns the response as a message. Errors from before the protocol handler are not messages yet.
 */
function lineOf({ status, text }: Came, id: string): string {
  const line = text.replaceAll('\n', ' ');
  if (line.startsWith('{"jsonrpc"')) return line;
  let body: { error?: string; code?: string; hint?: string } = {};
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    // Not JSON, for example the page of a proxy.
  }
  const { error = `The server answered with the status ${status}.`, code, hint } = body;
  const message = hint === undefined ? error : `${error} ${hint}`;
  const data = code === undefined ? undefined : { code };
  return bodyOf(new RpcError(rpcCodes.internal, message, undefined, data), id);
}

/**
 * Returns whether a call can be sent again: always after a refused connection, otherwise only if it
 * reads.
 */
function mayRepeat(error: unknown, { method }: Frame): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' || code === 'ENOENT' || method !== 'tools/call';
}

function notReached(error: unknown, frame: Frame): unknown {
  if (error instanceof TrellisError) return error;
  const hint = mayRepeat(error, frame)
    ? 'Start it, or try again.'
    : 'It went away during the call: look whether the call was carried out before it is made again.';
  const args = { phase: 'no server is reached', progress: 0 };
  return new TrellisError({ code: 'NOT_READY', args, hint });
}

/** Returns the error of a call that no server has answered. */
function failure(error: unknown, frame: Frame): string {
  if (!(error instanceof TrellisError)) throw error;
  const id = frame.id!;
  if (frame.method === 'tools/call') {
    const era = isModernFrame(frame) ? 'modern' : 'legacy';
    const { members, meta } = failedCall(error, era);
    const last = era === 'modern' ? '"resultType":"complete"' : `"_meta":{${meta}}`;
    return `{"jsonrpc":"2.0","id":${id},"result":{${members},${last}}}`;
  }
  const { code, message } = error;
  return bodyOf(new RpcError(rpcCodes.internal, message, undefined, { code }), id);
}
