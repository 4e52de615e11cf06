// One subscription of a client. It uses one stream, or several if the server restarts. Invariant: the
// subscription is acknowledged one time. Everything that may have changed while no stream was open is
// reported as changed.

interface Message {
  id?: unknown;
  method?: string;
  params?: {
    _meta: object;
    notifications?: Record<string, unknown>;
  };
}

export class Listening {
  /** Whether the subscription was acknowledged. */
  isOpen = false;
  /** Whether the server has sent the last message of the subscription. */
  isOver = false;

  constructor(private readonly print: (line: string) => void) {}

  /** Handles one event of a stream. */
  take(data: string): void {
    const { method, params } = JSON.parse(data) as Message;
    const isGreeting = method === 'notifications/subscriptions/acknowledged';
    if (isGreeting && this.isOpen) {
      for (const line of changesOf(params!)) this.print(line);
      return;
    }
    this.isOpen ||= isGreeting;
    this.isOver ||= method === undefined;
    this.print(data);
  }

  end(line: string): void {
    this.isOver = true;
    this.print(line);
  }
}

/** Returns a change notification for everything that the subscription covers. */
function changesOf({ _meta, notifications = {} }: NonNullable<Message['params']>): string[] {
  const notification = (method: string, params: object): string =>
    JSON.stringify({ jsonrpc: '2.0', method, params: { _meta, ...params } });
  return Object.entries(notifications).flatMap(([name, value]) => {
    const list = /^(\w+)ListChanged$/.exec(name)?.[1];
    if (list !== undefined) return [notification(`notifications/${list}/list_changed`, {})];
    const uris = Array.isArray(value) ? (value as string[]) : [];
    return uris.map((uri) => notification('notifications/resources/updated', { uri }));
  });
}
