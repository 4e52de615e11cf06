// What the server counts and measures besides the database: the catalogue of its numbers for /metrics.
// Names carry the prefix `trellis_`, but for those that every process has under the same name.
import {
  type Families,
  type Sample,
  type SampleName,
  clusterFamilies,
  databaseFamilies,
} from '../../engine/index.js';

const counter = (help: string) => ({ type: 'counter', help }) as const;
const gauge = (help: string) => ({ type: 'gauge', help }) as const;
const histogram = (help: string) => ({ type: 'histogram', help }) as const;

const serverFamilies = {
  build_info: gauge('Always 1; the labels say what runs.'),
  requests_total: counter('Requests answered, by route and status.'),
  request_seconds: histogram('Time from the head of a request to its answer.'),
  request_bytes: gauge('Bytes of request bodies; only grows.'),
  response_bytes: gauge('Bytes of answer bodies; only grows.'),
  in_flight: gauge('Calls that are under way.'),
  aborted_total: counter('Requests whose connection ended before the answer.'),
  pipelined_closed_total: counter(
    'Connections ended because a request came behind one that was not answered yet.',
  ),
  connections: gauge('Open connections.'),
  fronts: gauge('Threads that take connections.'),
  tenants: gauge('Databases of tenants, by whether they are open.'),
  tenant_open_seconds: histogram('Time of opening the database of a tenant.'),
  front_restarts_total: counter('Such threads that ended and were replaced.'),
  buffered_body_bytes: gauge('Bytes of request bodies that are not complete.'),
  buffered_response_bytes: gauge('Bytes of answers that clients have yet to read.'),
  rejected_total: counter('Requests answered by an error, by its code.'),
  limit_hits_total: counter('Requests and connections that met a limit.'),
  auth_failures_total: counter('Requests refused for their key, by the reason.'),
  share_exceeded_total: counter(
    'Requests of callers who had their share, by what they had too much of.',
  ),
  audit_lines_total: counter('Lines of the audit, by their event.'),
  audit_errors_total: counter('Lines of the audit that could not be written.'),
  event_loop_lag_seconds: gauge('Mean delay of timers of the main thread.'),
  event_loop_utilization: gauge('Share of its time that the main thread was busy.'),
  gc_seconds: histogram('Time of garbage collections of the main thread.'),
  rss_bytes: gauge('Resident memory of the process.'),
  heap_used_bytes: gauge('JavaScript heap in use.'),
  external_bytes: gauge('Memory outside of the heap that JavaScript objects hold.'),
  open_fds: gauge('Open file descriptors.'),
  connections_max: gauge('Connections that there may be, as open files allow.'),
  log_lines_lost_total: counter('Lines of the log that nobody could take.'),
  unhandled_rejections_total: counter('Promises that failed unheard: defects.'),
  checksum_errors_total: counter('Requests that met damaged data.'),
  compile_seconds: histogram('Time of compiling the sources.'),
  reloads_total: counter('Reloads of the sources, by their result.'),
  query_timeouts_total: counter('Calls of a query that took too long.'),
  sessions: gauge('Open sessions.'),
  session_bytes: gauge('Memory that open sessions count for.'),
  sessions_created_total: counter('Sessions opened.'),
  sessions_expired_total: counter('Sessions ended because nobody used them.'),
  sessions_evicted_total: counter('Sessions ended to make room.'),
  mcp_requests_total: counter('Messages of the Model Context Protocol, by method, era and result.'),
  mcp_tool_seconds: histogram('Time of calls of tools over the Model Context Protocol.'),
  mcp_streams: gauge('Open streams on which agents hear of changes.'),
  mcp_cut_total: counter('Answers of tools that were cut for their length.'),
  embed_seconds: histogram('Time of calls of an embedding provider.'),
  embed_errors_total: counter('Calls of an embedding provider that failed, by the code.'),
  embed_cache_hits_total: counter('Texts whose embedding was known.'),
  process_cpu_seconds_total: counter('Processor time of the process, user and system.'),
  process_resident_memory_bytes: gauge('Resident memory of the process.'),
  process_open_fds: gauge('Open file descriptors.'),
  process_max_fds: gauge('File descriptors that the process may open.'),
  process_start_time_seconds: gauge('When the process started, in seconds since 1970.'),
  cluster_read_waits_total: counter(
    'Reads that waited for an entry or for the leader, by how fresh they had to be and what came of it.',
  ),
  cluster_forwarded_total: counter(
    'Requests that were passed on to the leader, by what came of it.',
  ),
} as const satisfies Families;

type ServerFamilies = typeof serverFamilies;

/** Every family there is. */
export const families = { ...serverFamilies, ...databaseFamilies, ...clusterFamilies };

export type ServerSample = Sample<
  SampleName<ServerFamilies & typeof databaseFamilies & typeof clusterFamilies>
>;

/** The families that count events by one label. */
export type CounterName = {
  [Name in keyof ServerFamilies]: ServerFamilies[Name]['type'] extends 'counter' ? Name : never;
}[keyof ServerFamilies];
