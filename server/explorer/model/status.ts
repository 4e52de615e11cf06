// The status that the server reports once a second, and the figures that the pages compute from it. Pure.

export interface QueryFigures {
  name: string;
  calls: number;
  errors: number;
  p50_us: number | null;
  p99_us: number | null;
}

export interface TypeCount {
  kind: 'node' | 'edge' | 'vector';
  type: string;
  count: number;
  dimensions?: number;
}

/** State of the server in its cluster. */
export interface ClusterState {
  node: string;
  role: string;
  epoch: number;
  /** Position of the last applied entry, as `epoch.sequence`. */
  position: string;
  lag_ms: number;
  leader: { node: string; address: string } | null;
  fault?: { code: string; error: string };
}

export interface Status {
  version: string;
  title: string;
  keys: boolean;
  role: 'read' | 'write' | 'admin' | 'metrics';
  uptime_s: number;
  phase: string;
  writes: boolean;
  read_only_reason: string | null;
  reloads: number;
  sources: { errors: number; reason: string } | null;
  seconds: number | null;
  queries: QueryFigures[];
  elements?: TypeCount[];
  bytes?: { file: number; rss: number; vectors: number };
  writer?: { writes: number; index_lag: number };
  sessions?: number;
  /** Absent without a cluster. */
  cluster?: ClusterState;
}

/** Figures of one second. */
export interface Moment {
  rate: number;
  errors: number;
  p50: number | null;
  p99: number | null;
}

interface Property {
  name: string;
  type: string;
}

export interface SchemaType {
  name: string;
  kind: 'node' | 'edge' | 'vector';
  from?: string;
  to?: string;
  properties: Property[];
}

export function momentOf({ queries }: Status, seconds: number): Moment {
  const calls = queries.reduce((sum, query) => sum + query.calls, 0);
  const errors = queries.reduce((sum, query) => sum + query.errors, 0);
  const busy = queries.filter((query) => query.calls > 0);
  const weighted = (pick: (query: QueryFigures) => number | null) =>
    busy.reduce((sum, query) => sum + (pick(query) ?? 0) * query.calls, 0) / calls;
  return {
    rate: calls / seconds,
    errors: calls === 0 ? 0 : errors / calls,
    p50: calls === 0 ? null : weighted((query) => query.p50_us),
    p99: calls === 0 ? null : Math.max(...busy.map((query) => query.p99_us ?? 0)),
  };
}
