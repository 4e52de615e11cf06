// What a pool thread does: the setup says which lane it serves.
import { hasLoaded } from './exit-hold.js';
import { type LoaderSetup, serveLoad } from '../load/loader.js';
import { type ReaderSetup, serveReads } from './reader-lane.js';
import { type WriterSetup, serveWrites } from './writer-lane.js';

hasLoaded();

/** Asks for nothing: done as soon as the thread has loaded this module. */
interface WarmUp {
  role: 'warm';
}

export default function serveLane(
  setup: ReaderSetup | WriterSetup | LoaderSetup | WarmUp,
): Promise<unknown> {
  switch (setup.role) {
    case 'warm':
      return Promise.resolve();
    case 'reader':
      return serveReads(setup);
    case 'writer':
      return serveWrites(setup);
    case 'loader':
      return serveLoad(setup);
  }
}
