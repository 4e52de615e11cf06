// `subscriptions/listen`: streams that report changes of the lists a client sees.
//
// Invariant: the first message of a stream names the accepted subscriptions. A client receives nothing about
// what its key may not see. The number of open streams is limited.
import { createHash } from 'node:crypto';
import { fail, type JsonView } from '../../../engine/internal.js';
import type { Caller } from '../../auth/keys.js';
import type { AnswerStream } from '../../http/exchange.js';
import { type HeaderList, okStatus } from '../../http/header-list.js';
import type { StreamReply } from '../../pipeline/router.js';
import type { MethodCall, Methods } from '../message/method.js';
import { RpcError, rpcCodes } from '../message/rpc-reply.js';

/** The parts that can change for a caller, each as text to compare. */
export interface World {
  tools: string;
  resources: string;
  prompts: string;
  /** Texts by URI of the resource. */
  contents: Readonly<Record<string, string>>;
}

export interface SubscriptionsOptions {
  max: number;
  /** Open streams of the server. */
  streams: OpenStreams;
  worldOf: (caller: Caller | undefined) => World;
}

interface Subscription {
  stream: AnswerStream;
  /** Subscription id as JSON text. */
  id: string;
  key: Caller | undefined;
  /** Caller to whose share the stream counts. */
  holder: string;
  lists: readonly ListName[];
  uris: readonly string[];
  seen: World;
}

const listNames = ['tools', 'resources', 'prompts'] as const;
type ListName = (typeof listNames)[number];

const beatMs = 15_000;
const headers: HeaderList = [
  ['Content-Type', 'text/event-stream'],
  ['Cache-Control', 'no-store'],
  ['X-Accel-Buffering', 'no'],
  ['X-Content-Type-Options', 'nosniff'],
];

/** The open streams of all databases of a server, by caller. */
export class OpenStreams {
  readonly #by = new Map<string, number>();
  #count = 0;

  constructor(private readonly limits: { streams: number; streams_per_caller: number }) {}

  /** Fails RATE_LIMITED or SHARE_EXCEEDED if one more stream exceeds a limit. */
  check(holder: string): void {
    const { streams, streams_per_caller: ofOne } = this.limits;
    if (this.#count >= streams) fail('RATE_LIMITED', { what: 'open streams', seconds: 1 });
    const count = this.#by.get(holder) ?? 0;
    if (ofOne > 0 && count >= ofOne) fail('SHARE_EXCEEDED', { count, what: 'open streams' });
  }

  change(holder: string, by: 1 | -1): void {
    this.#count += by;
    const count = (this.#by.get(holder) ?? 0) + by;
    if (count > 0) this.#by.set(holder, count);
    else this.#by.delete(holder);
  }
}

export class Subscriptions {
  readonly #open = new Set<Subscription>();
  #beat: NodeJS.Timeout | undefined;

  constructor(private readonly options: SubscriptionsOptions) {}

  get count(): number {
    return this.#open.size;
  }

  methods(): Methods {
    return [['subscriptions/listen', { era: 'modern', answer: (call) => this.#listen(call) }]];
  }

  #listen({ frame, key, exchange }: MethodCall): StreamReply {
    const { max, streams, worldOf } = this.options;
    const { holder } = exchange;
    if (this.#open.size >= max) fail('RATE_LIMITED', { what: 'open streams', seconds: 1 });
    streams.check(holder);
    const filter = filterOf(frame.params);
    const seen = digested(worldOf(key));
    const lists = listNames
      .filter((name) => filter?.member(`${name}ListChanged`)?.kind === 'boolean')
      .filter((name) => filter!.member(`${name}ListChanged`)!.boolean());
    const uris = urisOf(filter).filter((uri) => Object.hasOwn(seen.contents, uri));
    const id = frame.id!;
    return {
      status: okStatus,
      headers,
      begin: (stream) => this.#begin({ stream, id, key, holder, lists, uris, seen }),
    };
  }

  #begin(subscription: Subscription): void {
    const { stream, lists, uris } = subscription;
    this.#open.add(subscription);
    this.options.streams.change(subscription.holder, 1);
    this.#beat ??= setInterval(() => this.#keepAlive(), beatMs);
    this.#beat.unref();
    stream.onDisconnect = () => this.#forget(subscription);
    const notifications = {
      ...Object.fromEntries(lists.map((name) => [`${name}ListChanged`, true])),
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
    };
    notify(subscription, 'subscriptions/acknowledged', { notifications });
  }

  #forget(subscription: Subscription): void {
    if (this.#open.delete(subscription)) this.options.streams.change(subscription.holder, -1);
    if (this.#open.size > 0) return;
    clearInterval(this.#beat);
    this.#beat = undefined;
  }

  /** Keeps the connection from being closed as idle by a proxy. */
  #keepAlive(): void {
    for (const { stream } of this.#open) stream.write(':\n\n');
  }

  /** Called when something may have changed. Notifies the streams for which it has. */
  announce(): void {
    const worlds = new Map<string, World>();
    for (const subscription of this.#open) {
      const { key, lists, uris, seen } = subscription;
      const who = key === undefined ? '' : JSON.stringify([key.role, key.queries]);
      const now = worlds.get(who) ?? digested(this.options.worldOf(key));
      worlds.set(who, now);
      subscription.seen = now;
      for (const list of lists) {
        if (now[list] !== seen[list]) notify(subscription, `${list}/list_changed`, {});
      }
      for (const uri of uris) {
        if (now.contents[uri] === seen.contents[uri]) continue;
        notify(subscription, 'resources/updated', { uri });
      }
    }
  }

  /** Ends the streams of a key, or all, with a last message, so that clients do not report an error. */
  end(keyId?: string): void {
    for (const subscription of this.#open) {
      const { stream, id, key } = subscription;
      if (keyId !== undefined && key?.keyId !== keyId) continue;
      this.#forget(subscription);
      const result = `{"resultType":"complete",${metaOf(id)}}`;
      stream.write(`data: {"jsonrpc":"2.0","id":${id},"result":${result}}\n\n`);
      stream.end();
    }
  }
}

const metaOf = (id: string): string => `"_meta":{"io.modelcontextprotocol/subscriptionId":${id}}`;

function notify({ stream, id }: Subscription, what: string, params: object): void {
  const members = JSON.stringify(params).slice(1, -1);
  const text = `{${metaOf(id)}${members === '' ? '' : `,${members}`}}`;
  stream.write(`data: {"jsonrpc":"2.0","method":"notifications/${what}","params":${text}}\n\n`);
}

function filterOf(params: JsonView | undefined): JsonView | undefined {
  const filter = params?.kind === 'object' ? params.member('notifications') : undefined;
  if (filter === undefined || filter.kind === 'object') return filter;
  throw new RpcError(rpcCodes.params, 'Invalid params: notifications is no object');
}

function urisOf(filter: JsonView | undefined): string[] {
  const list = filter?.member('resourceSubscriptions');
  if (list?.kind !== 'array') return [];
  const views = Array.from({ length: Math.min(list.length, 100) }, (_, at) => list.at(at));
  return [...new Set(views.flatMap((view) => (view.kind === 'string' ? [view.text()] : [])))];
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64');

/** Hash the compared texts, because streams stay open for days. */
function digested({ tools, resources, prompts, contents }: World): World {
  const entries = Object.entries(contents).map(([uri, text]) => [uri, digest(text)]);
  return {
    tools: digest(tools),
    resources: digest(resources),
    prompts: digest(prompts),
    contents: Object.fromEntries(entries),
  };
}
