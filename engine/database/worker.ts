// Entry of every pool thread: the setup says which lane to serve.
import { type LoaderSetup, serveLoad } from './load/loader.js';
import { type ReaderSetup, serveReads } from './reader-lane.js';
import { type WriterSetup, serveWrites } from './writer-lane.js';

export default function serveLane(
  setup: ReaderSetup | WriterSetup | LoaderSetup,
): Promise<unknown> {
  switch (setup.role) {
    case 'reader':
      return serveReads(setup);
    case 'writer':
      return serveWrites(setup);
    case 'loader':
      return serveLoad(setup);
  }
}
