// Plays conformance cases against the handler in this process: the same files, steps and checks as
// through a real server, with a clock that only moves when a step waits.
import {
  type ErrorData,
  errorHint,
  errorMessage,
  isRetryable,
  TrellisError,
} from '../../engine/base/errors.js';
import { defaultLimits, type Limits } from '../../engine/base/limits.js';
import { hashEmbedding } from '../../engine/embed/provider/hash.js';
import type { Program } from '../../engine/plan/program.js';
import { createSessionService, type SessionService } from '../../server/handlers/sessions.js';
import type { Case } from '../support/corpus/case.js';
import { statusOfCode } from '../support/corpus/catalogue.js';
import type { Connection, Reply } from '../support/server/http.js';
import type { Names } from '../support/corpus/match.js';
import type { Server } from '../support/server/server.js';
import { runStep } from '../support/corpus/step.js';
import { noKey } from './library.js';
import { MemoryDatabase } from './memory-database.js';

const seconds = (text: string): number => Number(/^(\d+)s$/.exec(text)![1]) * 1000;

export class Replay {
  readonly database: MemoryDatabase;
  readonly #handler: SessionService;
  #clock = 0;

  constructor(
    private readonly one: Case,
    program: Program,
  ) {
    const { config } = one;
    const limits: Limits = { ...defaultLimits };
    for (const [name, value] of Object.entries(config)) {
      const key = name.replace('limits.', '') as keyof Limits;
      if (key in limits) limits[key] = typeof value === 'string' ? seconds(value) : Number(value);
    }
    this.database = new MemoryDatabase(program, limits);
    const hash = /^hash:(\d+)$/.exec(String(config['embedding.model']));
    if (hash) this.database.model = (text) => hashEmbedding(text, Number(hash[1]));
    this.#handler = createSessionService({
      database: this.database.face,
      limits,
      now: () => this.#clock,
      randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
      schemaFormat: config['sessions.schema_format'] === 'string' ? 'string' : 'object',
      compat: config.compat === 'helix-2',
      textEnabled: config['text.enabled'] !== false,
      enabled: config['sessions.enabled'] !== false,
    });
  }

  async run(): Promise<void> {
    const { seed, steps, expect, elements } = this.one;
    const names: Names = { saved: new Map(), elements };
    const open = async () => this.#connection();
    const server = { client: { open } } as unknown as Server;
    for (const step of [...seed, ...steps]) {
      const wait = step.get('wait_ms');
      if (wait === undefined) await runStep(server, step, names, expect);
      else this.#clock += Number((wait as { token: string }).token);
    }
  }

  /** Answers one request, as far as a connection is used for. */
  #connection(): Connection {
    let answer: Promise<Reply> | undefined;
    const connection: Pick<Connection, 'send' | 'reply' | 'close'> = {
      send: (bytes) => {
        answer = this.#answer(Buffer.from(bytes));
      },
      reply: () => answer!,
      close: () => {},
    };
    return connection as Connection;
  }

  async #answer(request: Buffer): Promise<Reply> {
    const end = request.indexOf('\r\n\r\n');
    const [method, path] = request.toString('latin1', 0, end).split(' ');
    const body = request.subarray(end + 4);
    try {
      if (method !== 'POST') throw new RangeError('only POST can be replayed');
      const name = path!.replace(/^\/+/, '').replace(/\/$/, '');
      const reply = name.startsWith('mcp/')
        ? this.#handler.handle(name.slice(4), body, noKey, 30_000)
        : this.database.call(name, body);
      return replyOf(200, Buffer.from(await reply));
    } catch (error) {
      if (!(error instanceof TrellisError)) throw error;
      return errorReply(error.data);
    }
  }
}

function replyOf(status: number, body: Buffer): Reply {
  const headers = new Map([
    ['content-type', 'application/json'],
    ['cache-control', 'no-store'],
    ['x-content-type-options', 'nosniff'],
    ['x-request-id', 'replay'],
    ['content-length', String(body.length)],
    ['retry-after', '60'],
  ]);
  return { status, headers, body, text: body.toString() };
}

function errorReply(data: ErrorData): Reply {
  const { code, path, errors } = data;
  const body = {
    error: errorMessage(data),
    code,
    path,
    hint: errorHint(data),
    errors: errors?.map((each) => ({ error: errorMessage(each), code: each.code })),
    retryable: isRetryable(code),
    request_id: 'replay',
  };
  return replyOf(statusOfCode.get(code)!, Buffer.from(JSON.stringify(body)));
}
