// Computes the elements that pass a PREFILTER, once for all searches of a fusion with the same one.
import type { AllowList } from '../../vector/index.js';
import type { Flow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { Element } from '../runtime/value.js';

export interface Allowed {
  /** The elements of the type that pass. */
  flow: Flow;
  /** The number of the filter, if other searches share it. */
  shared: number | undefined;
}

/** Returns the ids of the elements that pass, ascending. */
export function allowedIds(frame: Frame, { flow, shared }: Allowed): Uint32Array {
  if (shared === undefined) return idsOf(frame, flow);
  frame.allowed ??= new Map();
  let ids = frame.allowed.get(shared);
  if (ids === undefined) {
    ids = idsOf(frame, flow);
    frame.reserveMemory(ids.byteLength);
    frame.allowed.set(shared, ids);
  }
  return ids;
}

function idsOf(frame: Frame, flow: Flow): Uint32Array {
  const ids = new IdBuffer();
  if (flow.kind === 'ids') {
    for (const batch of flow.open(frame)) ids.append(batch);
  } else {
    for (const batch of flow.open(frame))
      for (const row of batch) if (row instanceof Element) ids.push(row.id);
  }
  return ids.take();
}

export function allowListOf(ids: Uint32Array): AllowList {
  const last = ids.reduce((max, id) => Math.max(max, id), 0);
  const words = new Uint32Array((last >>> 5) + 1);
  for (const id of ids) words[id >>> 5]! |= 1 << (id & 31);
  return { words, count: ids.length };
}

export function isAllowed(allow: AllowList, id: number): boolean {
  const word = allow.words[id >>> 5];
  return word !== undefined && (word & (1 << (id & 31))) !== 0;
}
