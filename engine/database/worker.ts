// Entry of every pool thread: the setup says which lane to serve.
import type { LaneFault } from './message.js';
import { type ReaderSetup, serveReads } from './reader-lane.js';
import { type WriterSetup, serveWrites } from './writer-lane.js';

export default function serveLane(
  setup: ReaderSetup | WriterSetup,
): Promise<LaneFault | undefined | void> {
  return setup.role === 'reader' ? serveReads(setup) : serveWrites(setup);
}
