// Finds the data sets next to the project (../shared/data), which are read in place and never copied. A
// benchmark that needs one prints why it skips when the folder is absent.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Matrix<T> {
  n: number;
  d: number;
  data: T;
  row(i: number): T;
}

/** What is used of the folder's own reader, load.mjs. */
export interface DataSets {
  hasSet(name: string): boolean;
  readU8(file: string, d: number): Matrix<Uint8Array>;
  readU16(file: string): Uint16Array;
  readU32(file: string): Uint32Array;
  readFvecs(file: string): Matrix<Float32Array>;
  readIvecs(file: string): Matrix<Int32Array>;
  readJson(file: string): unknown;
  readNdjson(file: string): Promise<Record<string, unknown>[]>;
  readCsv(file: string): Promise<Record<string, string>[]>;
}

/** The reader, when every named set is there; else prints the reason and gives undefined. */
export async function dataSets(...names: string[]): Promise<DataSets | undefined> {
  const path = resolve('..', 'shared', 'data', 'load.mjs');
  if (!existsSync(path)) {
    console.log('skipped: ../shared/data is absent');
    return undefined;
  }
  const data = (await import(pathToFileURL(path).href)) as DataSets;
  const absent = names.filter((name) => !data.hasSet(name));
  if (absent.length === 0) return data;
  console.log(`skipped: ../shared/data does not hold ${absent.join(', ')}`);
  return undefined;
}
