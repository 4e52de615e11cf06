// Which pages have changed: one byte per page of the segment, set by whoever changes a page while a
// snapshot is being made, cleared by the snapshot thread before it copies the page. Lanes are not
// marked but for their headers: nothing in them outlives a search. Invariant: marks are set after
// what they stand for is written, and before the change of the index ends.
import { H_MARKING, PAGE_BYTES } from './layout';

/** Marks the pages of `bytes` bytes from `at` on, which have just been written. */
// @ts-ignore: decorator
@inline
export function mark(at: usize, bytes: usize): void {
  const marks = <usize>load<u32>(0, H_MARKING);
  if (marks != 0) markPages(marks, at, bytes);
}

function markPages(marks: usize, at: usize, bytes: usize): void {
  const last = (at + bytes - 1) / PAGE_BYTES;
  // Atomic: a store that could pass the writing of the page would be cleared too early.
  for (let page = at / PAGE_BYTES; page <= last; page++) atomic.store<u8>(marks + page, 1);
}
