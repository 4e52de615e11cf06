// Checks whether the servers of a JetStream log sync what they acknowledge. Without `sync_interval: always`,
// three servers that lost power together have lost whole streams. The check asks the servers in two ways:
// over NATS, which needs the credentials of the system account, and over their monitoring ports.
import type { NatsConnection } from '@nats-io/transport-node';
import type { LogStatus } from './replicated-log.js';

/** Fields of both kinds of response that the check reads. */
interface ServerReport {
  server?: { name?: string };
  data?: { config?: { sync_always?: boolean } };
  config?: { sync_always?: boolean };
  server_id?: string;
}

const waitMs = 1_000;
/** Maximum bytes of a server's report. */
const reportBytesMax = 4 * 1024 * 1024;

/** Asks all servers. At least `replicas` servers must report that they sync. */
export async function checkSyncSettings(
  connection: NatsConnection,
  monitors: readonly string[],
  replicas: number,
): Promise<Omit<LogStatus, 'exists'>> {
  const answers = [...(await overNats(connection)), ...(await byMonitor(monitors))];
  const names = new Set<string>();
  for (const { name, always } of answers) {
    if (!always)
      return { durable: false, note: `server ${name} does not run with sync_interval: always` };
    names.add(name);
  }
  if (names.size >= replicas) return { durable: true, note: `${names.size} servers sync always` };
  const note = `${names.size} of ${replicas} servers have said how they sync; name their monitoring ports in \`cluster.log\`: ?monitor=http://host:8222,…`;
  return { durable: undefined, note };
}

interface Answer {
  name: string;
  always: boolean;
}

const answerOf = (report: ServerReport, name: string): Answer => ({
  name,
  always: (report.data?.config ?? report.config)?.sync_always === true,
});

async function overNats(connection: NatsConnection): Promise<Answer[]> {
  const answers: Answer[] = [];
  try {
    const payload = JSON.stringify({ config: true });
    const options = { maxWait: waitMs, strategy: 'timer' as const };
    for await (const message of await connection.requestMany(
      '$SYS.REQ.SERVER.PING.JSZ',
      payload,
      options,
    )) {
      const report = message.json<ServerReport>();
      answers.push(answerOf(report, report.server?.name ?? ''));
    }
  } catch {
    // These credentials have no right to ask, so a missing response says nothing.
  }
  return answers;
}

/** Reads a response as text. Fails when it is larger than any server report. */
async function boundedText(reply: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of reply.body ?? []) {
    size += chunk.length;
    if (size > reportBytesMax) throw new RangeError('a report is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function byMonitor(monitors: readonly string[]): Promise<Answer[]> {
  const requests = monitors.map(async (monitor) => {
    try {
      const at = `${monitor.replace(/\/$/, '')}/jsz?config=true`;
      const signal = AbortSignal.timeout(5 * waitMs);
      const reply = await fetch(at, { signal, redirect: 'error' });
      const report = JSON.parse(await boundedText(reply)) as ServerReport;
      return [answerOf(report, report.server_id ?? monitor)];
    } catch {
      return [];
    }
  });
  return (await Promise.all(requests)).flat();
}
