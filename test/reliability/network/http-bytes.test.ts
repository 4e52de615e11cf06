// T9, HTTP bytes: streams of right and bent requests against both transports, beside an oracle that
// reads them by the letter of RFC 9112. What must hold for every stream: the connection ends, or
// the next request on it is answered as itself; nothing that stands inside a body is ever carried
// out or answered; answers come in the order of their requests; nobody hears of a defect.
import { type Socket, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type RunningApp,
  startApp,
  type TransportName,
  transports,
} from '../../server/running-app.js';
import { damage, hiddenPrefix, makeRequest } from '../../support/server/http-bytes.js';
import { noteProof } from '../../support/proof.js';
import { Random } from '../../support/random.js';
import { readRequests } from '../../support/server/rfc9112.js';
import { knownStreams } from '../../support/server/known-streams.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const streams = Number(process.env.TRELLIS_TEST_STREAMS ?? (long ? 20_000 : 192));
const together = 64;
/** Longer than this nobody takes to answer; who does waits for bytes that never come. */
const patienceMs = 400;
/** Above the longest time a transport leaves a connection that is in the middle of a request. */
const endMs = 14_000;
const seed = Number(process.env.TRELLIS_TEST_SEED ?? 9112);

interface Stream {
  seed: number;
  text: string;
  ids: string[];
  probe: string;
}

const idField = (id: string): string => `X-Request-Id: ${id}\r\n`;

function makeStream(number: number): Stream {
  const random = new Random(number);
  const ids = Array.from({ length: 1 + random.below(3) }, (_, i) => `s${number}.${i}`);
  let text = ids.map((id) => makeRequest(random, id)).join('');
  if (random.chance(0.1)) text = damage(random, text);
  return { seed: number, text, ids, probe: `s${number}.probe` };
}

/**
 * uWebSockets.js does not hear of a field without a name and of those behind it, and a GET keeps its
 * connection: what its body holds, which no client sends and proxies refuse, is read as a request there.
 */
const namelessInGet = /^(?:GET|HEAD|OPTIONS) [^\r\n]*\r\n(?:[^\r\n]+\r\n)*?[ \t]*:/m;
const isBeyond = ({ text }: Stream, transport: TransportName): boolean =>
  transport === 'uws' && namelessInGet.test(text);

/** Streams that once put a connection out of step, in every run. */
const known = knownStreams.map(
  ({ text, ids }, i): Stream => ({ seed: i, text, ids: [...ids], probe: `known${i}.probe` }),
);

const probeBytes = (id: string): string => {
  const body = `{"probe":"${id}"}`;
  const head = `POST /echo HTTP/1.1\r\nHost: localhost\r\n${idField(id)}`;
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
};

/** Sends in up to three pieces, and the probe with them or by itself. */
async function send(socket: Socket, stream: Stream): Promise<void> {
  const random = new Random(~stream.seed);
  const probe = probeBytes(stream.probe);
  const apart = random.chance(0.5);
  let rest = apart ? stream.text : stream.text + probe;
  for (let i = 0; i < 2 && random.chance(0.5); i++) {
    const cut = random.below(rest.length + 1);
    socket.write(rest.slice(0, cut), 'latin1');
    rest = rest.slice(cut);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  socket.write(rest, 'latin1');
  if (!apart) return;
  await new Promise((resolve) => setTimeout(resolve, 15));
  socket.write(probe, 'latin1');
}

interface Outcome {
  stream: Stream;
  text: string;
  closed: boolean;
  /** Resolves when the connection ends. */
  ended: Promise<void>;
  socket: Socket;
}

/** The time is over once the server has come by what was sent before, however busy the machine. */
function run(server: RunningApp, stream: Stream): Promise<Outcome> {
  const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true });
  const outcome = { stream, text: '', closed: false, socket } as Outcome;
  return new Promise((resolve) => {
    const timer = setTimeout(async () => {
      await server.request({ path: '/ping' });
      resolve(outcome);
    }, patienceMs);
    const done = (): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    socket.on('data', (chunk: Buffer) => {
      outcome.text += chunk.toString('latin1');
      if (outcome.text.includes(`"probe":"${stream.probe}"`)) setImmediate(done);
    });
    socket.on('error', () => undefined);
    outcome.ended = new Promise((end) =>
      socket.on('close', () => {
        outcome.closed = true;
        end();
        done();
      }),
    );
    void send(socket, stream);
  });
}

interface Answer {
  status: number;
  id: string;
  body: string;
}

/** The answers in what came back; a transport's own page without a length is the last. */
function answersOf(text: string): Answer[] {
  const answers: Answer[] = [];
  let at = 0;
  while (at < text.length) {
    const head = /^HTTP\/1\.1 (\d{3})[\s\S]*?\r\n\r\n/.exec(text.slice(at));
    if (head === null)
      throw new Error(`no answer at ${at}: ${JSON.stringify(text.slice(0, at + 99))}`);
    at += head[0].length;
    const field = (name: string) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(head[0])?.[1];
    if (head[1] === '100') continue;
    const length = field('content-length');
    const rest = text.slice(at);
    // The answer to HEAD has a length and nothing behind it.
    const size = rest.startsWith('HTTP/1.1 ') ? 0 : length === undefined ? rest.length : +length;
    answers.push({
      status: Number(head[1]),
      id: field('x-request-id') ?? '',
      body: rest.slice(0, size),
    });
    at += size;
  }
  return answers;
}

const waiting = 'neither answered nor closed yet';

/**
 * What is wrong with an outcome, or undefined. `carriedOut`: bodies of the writes there were.
 * uWebSockets.js does not hear of a field without a name, and not of those behind it.
 */
function faultOf(
  { stream, text, closed }: Outcome,
  carriedOut: Set<string>,
  transport: TransportName,
): string | undefined {
  const whole = stream.text + probeBytes(stream.probe);
  const oracle = readRequests(whole, transport === 'uws');
  const meant = new Set(oracle.requests.flatMap(({ fields }) => fields.get('x-request-id') ?? []));
  const answers = answersOf(text);
  for (const id of stream.ids) {
    const hidden = hiddenPrefix + id;
    if (meant.has(hidden)) continue;
    // Damage may have struck the id and left the request.
    const isBody = oracle.requests.some(({ body }) => body === `{"id":"${hidden}"}`);
    if (!isBody && carriedOut.has(`{"id":"${hidden}"}`)) return `${hidden} was carried out`;
    // That it is no request may be said.
    if (answers.some(({ id, status }) => id === hidden && status !== 400))
      return `${hidden} was answered`;
  }
  // An id that occurs twice is that of the next request that has it.
  let place = -1;
  for (const { id } of answers) {
    if (!whole.includes(idField(id))) continue;
    place = whole.indexOf(idField(id), place + 1);
    if (place < 0) return 'answers out of order';
  }
  if (answers.some(({ status }) => status === 500)) return 'a defect';
  const probe = answers.find(({ id }) => id === stream.probe);
  const right = `{"probe":"${stream.probe}"}`;
  // Bytes missing before it may make another request of the last one, by the letter.
  const isItself = oracle.requests.some(({ method, body }) => method === 'POST' && body === right);
  if (isItself && probe !== undefined && probe.body !== right) return 'another answer';
  if (closed || probe !== undefined) return undefined;
  return waiting;
}

describe.each(transports)('T9 HTTP bytes on %s', (transport) => {
  let server: RunningApp;
  beforeAll(async () => {
    server = await startApp(transport, { 'limits.receive_time': '2s' });
  });
  afterAll(() => server.close());

  it(`no stream of bytes puts a connection out of step (seed ${seed})`, async () => {
    const faults: string[] = [];
    let open: Outcome[] = [];
    const counts = { streams, closed: 0, answered: 0, waiting: 0, late: 0, beyond: 0 };
    const carriedOut = new Set<string>();
    const judge = (outcomes: readonly Outcome[]): Outcome[] => {
      for (const body of server.database.written.splice(0)) carriedOut.add(body);
      return outcomes.filter((outcome) => {
        const fault = faultOf(outcome, carriedOut, transport);
        if (fault === waiting) return true;
        outcome.socket.destroy();
        if (fault === undefined) counts[outcome.closed ? 'closed' : 'answered']++;
        else faults.push(`stream ${outcome.stream.probe}: ${fault}`);
        return false;
      });
    };
    const heard = (list: readonly Stream[]): Stream[] => {
      const kept = list.filter((stream) => !isBeyond(stream, transport));
      counts.beyond += list.length - kept.length;
      return kept;
    };
    open.push(...judge(await Promise.all(heard(known).map((stream) => run(server, stream)))));
    for (let done = 0; done < streams; done += together) {
      const size = Math.min(together, streams - done);
      const all = Array.from({ length: size }, (_, i) => makeStream(seed * 1e6 + done + i));
      const batch = heard(all);
      open.push(...judge(await Promise.all(batch.map((stream) => run(server, stream)))));
    }
    counts.waiting = open.length;
    // Those wait for the rest of a request, and end by the clock: the long run looks on.
    const late = new Promise((resolve) => setTimeout(resolve, long ? endMs : 0));
    await Promise.race([Promise.all(open.map(({ ended }) => ended)), late]);
    open = judge(open);
    counts.late = open.length;
    if (long) faults.push(...open.map(({ stream }) => `stream ${stream.probe}: hangs`));
    for (const { socket } of open) socket.destroy();
    expect(faults).toEqual([]);
    expect(server.log.filter((line) => line.includes('defect'))).toEqual([]);
    expect((await server.request({ path: '/ping' })).status).toBe(200);
    noteProof('T9', `HTTP bytes on ${transport}, seed ${seed}: ${JSON.stringify(counts)}, 0 wrong`);
  });
});
