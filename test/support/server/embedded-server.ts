// Runs steps of cases on the engine in this process instead of a server. A request becomes a call of the
// embedded database, and an error has the form that the server gives it.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EmbeddedDatabase, OpenOptions } from '../../../engine/internal.js';
import { errorBody, statusOf } from '../../../server/http/http-error.js';
import type { Connection, Reply } from './http.js';
import { mismatch } from '../reply-conforms.js';
import { toolMismatch } from '../tool-conforms.js';
import { makeFolder, type Project, removeFolder, root, writeProject } from '../project.js';
import type { Server } from './server.js';

/** Built, as an embedding program gets it: lanes are threads and need JavaScript. */
export const built = <T>(path: string): Promise<T> =>
  import(pathToFileURL(join(root, 'dist', path)).href);
const { TrellisError, compile, open } =
  await built<typeof import('../../../engine/internal.js')>('engine/internal.js');
const { loadConfig } =
  await built<typeof import('../../../server/config/config.js')>('server/config/config.js');
const { databaseOptions } = await built<
  typeof import('../../../server/config/database-options.js')
>('server/config/database-options.js');

const requestId = 'embedded';

export interface EmbeddedServer {
  /** What steps use of a server. */
  server: Server;
  db: EmbeddedDatabase;
  folder: string;
  dispose(): Promise<void>;
}

/** Opens a database for a project; its data are in `folder`/data. */
export async function openEmbedded(
  project: Project,
  folder = makeFolder(),
  more: Partial<OpenOptions> = {},
): Promise<EmbeddedServer> {
  writeProject(folder, { ...project, sources: {} });
  const flags = new Map([['storage.data_dir', `${folder}/data`]]);
  const config = loadConfig({ projectDir: folder, flags, environment: {} });
  const { program, log, workers, ...rest } = databaseOptions(
    config,
    compile([], { compat: false }).program!,
    () => {},
  );
  const sources = Object.entries(project.sources).map(([path, text]) => ({
    path,
    text: String(text),
  }));
  const db = await open({ ...rest, sources, compat: config.compat, minFreeBytes: 0, ...more });
  const client = {
    open: async () => connectionTo(db),
    post: async (name: string) => db.call(name),
  };
  return {
    server: { client } as unknown as Server,
    db,
    folder,
    dispose: async () => {
      await db.close();
      removeFolder(folder);
    },
  };
}

/** Answers one request after another, as far as steps use a connection. */
function connectionTo(db: EmbeddedDatabase): Connection {
  let answer: Promise<Reply> | undefined;
  const connection: Pick<Connection, 'send' | 'reply' | 'close'> = {
    send: (bytes) => {
      answer = answerTo(db, Buffer.from(bytes));
    },
    reply: () => answer!,
    close: () => {},
  };
  return connection as Connection;
}

async function answerTo(db: EmbeddedDatabase, request: Buffer): Promise<Reply> {
  const end = request.indexOf('\r\n\r\n');
  const path = request.toString('latin1', 0, end).split(' ')[1]!;
  return callEmbedded(db, path.replaceAll('/', ''), request.subarray(end + 4));
}

/** The reply the server would give, from a call in this process. */
export async function callEmbedded(
  db: EmbeddedDatabase,
  name: string,
  body: Buffer,
): Promise<Reply> {
  try {
    const reply = replyOf(200, Buffer.from(await callWith(db, name, body)));
    refuseUntyped(db, name, reply.text);
    return reply;
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    const status = Number.parseInt(statusOf(error.data.code), 10);
    return replyOf(status, Buffer.from(errorBody(error.data, requestId)));
  }
}

/** What the compiler says of the answer holds, for callers and as the schema of a tool. */
function refuseUntyped(db: EmbeddedDatabase, name: string, text: string): void {
  const { program } = db.database;
  const query = program.queries.find((one) => one.name === name);
  if (query === undefined) return;
  const fault = mismatch(query.output, text, program.schema) ?? toolMismatch(query, text, program);
  if (fault !== undefined)
    throw new RangeError(`${name} answers what it has no type for: ${fault}`);
}

/** As arguments where they say the same as the text, which most do; else as bytes. */
function callWith(db: EmbeddedDatabase, name: string, body: Buffer) {
  const text = body.toString();
  try {
    const args = JSON.parse(text);
    if (JSON.stringify(args) === text) return db.callBytes(name, args);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return db.database.call(name, body);
}

function replyOf(status: number, body: Buffer): Reply {
  const headers = new Map([
    ['content-type', 'application/json'],
    ['cache-control', 'no-store'],
    ['x-content-type-options', 'nosniff'],
    ['x-request-id', requestId],
    ['content-length', String(body.length)],
    ['retry-after', '1'],
  ]);
  return { status, headers, body, text: body.toString() };
}
