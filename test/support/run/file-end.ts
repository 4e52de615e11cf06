// Runs around every test file: nothing that it started or wrote outlives it. Files share processes of
// the runner, so that the end of a process comes too late.
import { afterAll } from 'vitest';
import { removeFolders } from '../project.js';
import { killServers } from '../server/server.js';

// Registered before the hooks of the file, hence run after them.
afterAll(() => {
  killServers();
  removeFolders();
});
