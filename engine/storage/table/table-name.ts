// The names of all tables of the store. keys.ts draws their contents.

export const tableNames = [
  'meta',
  'records',
  'uuid',
  'labels',
  'out',
  'in',
  'index',
  'vectors',
  'vlog',
  'derived',
] as const;

export type TableName = (typeof tableNames)[number];
