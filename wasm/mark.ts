// Which pages have changed: one byte per page of the segment, set by whoever changes a page while a
// snapshot is being made, cleared by the snapshot thread before it copies the page. Lanes are not
// marked but for their headers: nothing in them outlives a search. Invariant: marks are set after
// what they stand for is written, and before the change of the index ends.
import { H_BYTES_MAX, H_MARKING, H_MARKS, PAGE_BYTES } from './layout';
import { allocate } from './memory';

/** Begins to mark; false when memory is out. Writer only, between changes. */
export function openMarks(): bool {
  let marks = load<u32>(0, H_MARKS);
  if (marks == 0) {
    marks = <u32>allocate(<u64>load<u32>(0, H_BYTES_MAX) / PAGE_BYTES + 1);
    store<u32>(0, marks, H_MARKS);
  }
  atomic.store<u32>(H_MARKING, marks);
  return marks != 0;
}

/** Ends marking. */
export function closeMarks(): void {
  atomic.store<u32>(H_MARKING, 0);
}

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
