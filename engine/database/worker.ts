// Entry of every pool thread: the setup says which lane to serve.
import { type ReaderSetup, serveReads } from './reader-lane.js';
import { type WriterSetup, serveWrites } from './writer-lane.js';

export default function serveLane(setup: ReaderSetup | WriterSetup): Promise<unknown> {
  return setup.role === 'reader' ? serveReads(setup) : serveWrites(setup);
}
