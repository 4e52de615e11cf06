// The public interface of the package `trellisdb`: every name that `import ... from 'trellisdb'` offers,
// and no other. The server has engine/internal.ts, which the package does not export. Invariant: each name
// is documented with an example where it is declared (test/deploy/public.test.ts).
export { open } from './database/embedded.js';
export { attach } from './database/attach/attach.js';
export { createCluster, foundCluster } from './database/embedded-cluster.js';
export { TrellisError, errorCodes } from './base/errors.js';
export type { ErrorCode, ErrorData } from './base/errors.js';
export type { OpenOptions } from './database/embedded-options.js';
export type { EmbeddedDatabase } from './database/embedded.js';
export type { AttachedDatabase } from './database/attach/attach.js';
export type { Attachment } from './database/attach/attachment.js';
export type {
  Arguments as QueryArguments,
  Calls as QueryCaller,
} from './database/attach/query-caller.js';
export type { Embedder } from './embed/embedder.js';
export type { ClusterOptions } from './cluster/options.js';
export type { ClusterNode, ClusterPosition } from './cluster/node.js';
