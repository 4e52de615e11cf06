// What an environment is opened with: who may write, and who hears of commits. LMDB shows a commit to
// whoever looks, before anybody has been told of it.
import type { WritePermit } from '../lock/permit.js';

/** Hears when other threads may begin to see a commit, and when all that look do. */
export interface CommitVisibility {
  beginCommit(): void;
  endCommit(): void;
}

export interface EnvOptions {
  readOnly?: boolean;
  permit?: WritePermit;
  visibility?: CommitVisibility;
}
