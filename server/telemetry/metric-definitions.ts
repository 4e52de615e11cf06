// Defines the metrics of the server, besides those of the database. Names on /metrics have the prefix `trellis_`.
// Exceptions are the names that every process exports (`process_…`).
import {
  type Families,
  type Sample,
  type SampleName,
  clusterFamilies,
  counter,
  databaseFamilies,
  formerly,
  gauge,
  histogram,
} from '../../engine/internal.js';

const serverFamilies = {
  build_info: gauge('Always 1. The labels identify the build.'),
  requests_total: counter('Answered requests, by route and status.'),
  request_duration_seconds: formerly(
    'request_seconds',
    histogram('Time from the header of a request to its response.'),
  ),
  request_bytes_total: formerly('request_bytes', counter('Bytes of request bodies.'), 'gauge'),
  response_bytes_total: formerly('response_bytes', counter('Bytes of response bodies.'), 'gauge'),
  requests_in_flight: formerly('in_flight', gauge('Requests that are being processed.')),
  requests_aborted_total: formerly(
    'aborted_total',
    counter('Requests whose connection ended before the response.'),
  ),
  pipelined_closed_total: counter(
    'Connections closed because a request arrived before the response to the previous one.',
  ),
  connections: gauge('Open connections.'),
  http_threads: formerly('fronts', gauge('Threads that serve HTTP.')),
  http_thread_restarts_total: formerly(
    'front_restarts_total',
    counter('HTTP threads that ended and were replaced.'),
  ),
  tenants: gauge('Tenant databases, by state (open or closed).'),
  tenant_open_seconds: histogram('Duration of opening a tenant database.'),
  buffered_body_bytes: gauge('Bytes of incomplete request bodies.'),
  buffered_response_bytes: gauge('Bytes of responses that clients have not read yet.'),
  request_errors_total: formerly(
    'rejected_total',
    counter('Requests answered with an error, by its code.'),
  ),
  limit_hits_total: counter('Requests and connections that reached a limit.'),
  auth_failures_total: counter('Requests refused because of their API key, by reason.'),
  share_exceeded_total: counter('Requests of callers that used up their share, by resource.'),
  audit_lines_total: counter('Lines of the audit log, by event.'),
  audit_errors_total: counter('Lines of the audit log that could not be written.'),
  event_loop_lag_seconds: gauge('Mean delay of timers on the main thread.'),
  event_loop_utilization: gauge('Share of time in which the main thread was busy.'),
  gc_seconds: histogram('Duration of garbage collections on the main thread.'),
  heap_used_bytes: gauge('JavaScript heap in use.'),
  external_bytes: gauge('Memory outside the heap that belongs to JavaScript objects.'),
  connections_max: gauge('Maximum number of connections, as bounded by open files.'),
  log_lines_lost_total: counter('Log lines dropped because standard error did not take them.'),
  unhandled_rejections_total: counter('Unhandled promise rejections. Each one is a defect.'),
  checksum_errors_total: counter('Requests that read damaged data.'),
  compile_duration_seconds: formerly(
    'compile_seconds',
    histogram('Duration of compiling the sources.'),
  ),
  reloads_total: counter('Reloads of the sources, by result.'),
  query_timeouts_total: counter('Calls of a query that were stopped because of a timeout.'),
  sessions: gauge('Open sessions.'),
  session_bytes: gauge('Memory charged to open sessions.'),
  sessions_created_total: counter('Sessions opened.'),
  sessions_expired_total: counter('Sessions closed after their idle timeout.'),
  sessions_evicted_total: counter('Sessions closed to free capacity.'),
  mcp_requests_total: counter(
    'Messages of the Model Context Protocol, by method, protocol style and result.',
  ),
  mcp_tool_seconds: histogram('Duration of tool calls over the Model Context Protocol.'),
  mcp_streams: gauge('Open subscription streams of the Model Context Protocol.'),
  mcp_results_truncated_total: formerly(
    'mcp_cut_total',
    counter('Tool results truncated because of their length.'),
  ),
  embed_seconds: histogram('Duration of calls to an embedding provider.'),
  embed_errors_total: counter('Failed calls to an embedding provider, by code.'),
  embed_cache_hits_total: counter('Texts whose embedding was cached.'),
  process_cpu_seconds_total: counter('CPU time of the process, user and system.'),
  process_resident_memory_bytes: gauge('Resident memory of the process.'),
  process_open_fds: gauge('Open file descriptors.'),
  process_max_fds: gauge('Maximum number of open file descriptors.'),
  process_start_time_seconds: gauge('Start time of the process, in seconds since 1970.'),
  cluster_read_waits_total: counter(
    'Reads that waited for a log entry or for the leader, by consistency and result.',
  ),
  cluster_forwarded_total: counter('Requests forwarded to the leader, by result.'),
} as const satisfies Families;

type ServerFamilies = typeof serverFamilies;

export const families = { ...serverFamilies, ...databaseFamilies, ...clusterFamilies };

export type ServerSample = Sample<
  SampleName<ServerFamilies & typeof databaseFamilies & typeof clusterFamilies>
>;

/** Names of the counters of the server. */
export type CounterName = {
  [Name in keyof ServerFamilies]: ServerFamilies[Name]['type'] extends 'counter' ? Name : never;
}[keyof ServerFamilies];
