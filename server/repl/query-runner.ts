// Runs queries of the command line: on the server that has the data open, or in this process. Without a
// server, the data directory is opened read-only unless the query writes.
import {
  argumentsOf,
  openDatabase,
  queryOf,
  scanBody,
  type Database,
  type Program,
} from '../../engine/internal.js';
import type { Config } from '../config/config.js';
import { databaseOptions } from '../config/database-options.js';
import { explanationBody } from '../handlers/explain.js';
import { createLog } from '../telemetry/log.js';
import { failNoData, hasData } from '../command/support/data-at-rest.js';
import { requestBytes, isServed } from '../command/support/running-server.js';

export interface QueryRequest {
  /** Name of a stored query. */
  name?: string;
  /** Text of an ad-hoc query. */
  source?: string;
  /** JSON text. */
  parameters: string;
  write: boolean;
  mode?: 'explain' | 'profile';
}

export interface QueryRunner {
  /**
   * Returns the reply, or fails with the TrellisError of the server. `onCancellable` receives a function that
   * cancels.
   */
  run(question: QueryRequest, onCancellable?: (cancel: () => void) => void): Promise<string>;
  close(): Promise<void>;
}

/** `writes`: open the directory for writing if there is no server. */
export async function openQueryRunner(
  config: Config,
  program: Program,
  writes: boolean,
): Promise<QueryRunner> {
  if (isServed(config)) return new HttpQueryRunner(config);
  if (!writes && !hasData(config.dataDir)) failNoData(config.dataDir);
  const log = createLog({ level: 'error', format: 'text' });
  const options = databaseOptions(config, program, log);
  const database = await openDatabase({ ...options, workers: 1, readOnly: !writes });
  return new EmbeddedQueryRunner(config, database);
}

class HttpQueryRunner implements QueryRunner {
  constructor(private readonly config: Config) {}

  async run(question: QueryRequest, onCancellable?: (cancel: () => void) => void): Promise<string> {
    const { name, source, parameters, write, mode } = question;
    const path =
      name === undefined ? '_admin/query' : `${name}${mode === undefined ? '' : `?${mode}=1`}`;
    const flags = [...(write ? ['write'] : []), ...(mode === undefined ? [] : [mode])];
    const members = [
      `"source":${JSON.stringify(source)},"parameters":${parameters}`,
      ...flags.map((flag) => `"${flag}":true`),
    ];
    const body = name === undefined ? `{${members.join(',')}}` : parameters;
    const reply = await requestBytes(this.config, path, body, onCancellable);
    return reply.toString();
  }

  async close(): Promise<void> {}
}

class EmbeddedQueryRunner implements QueryRunner {
  constructor(
    private readonly config: Config,
    private readonly database: Database,
  ) {}

  async run(question: QueryRequest, onCancellable?: (cancel: () => void) => void): Promise<string> {
    const { config, database } = this;
    const { limits } = config;
    const { name, source, parameters, mode } = question;
    const options = { ...(onCancellable && { onCancellable }), profile: mode === 'profile' };
    const query =
      database.program.queries.find((each) => each.name === name) ??
      queryOf(source ?? '', database.program, limits);
    if (mode === 'explain') return textOf(explanationBody(database, query));
    const body = Buffer.from(parameters);
    if (name !== undefined) return textOf(await database.call(name, body, options));
    const strict = config.server.strict_members;
    const args = argumentsOf(query, scanBody(body, limits), { limits, strict });
    const plan = mode === 'profile' ? { ...query.plan, profile: true as const } : query.plan;
    return textOf((await database.run(plan, args, undefined, options)).body);
  }

  close(): Promise<void> {
    return this.database.close({ snapshot: false });
  }
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
