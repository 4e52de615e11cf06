// Checks whether uWebSockets.js loads on this machine: its add-ons are built for some versions of Node and of
// the C library. Uses a separate process, because the add-on reads the environment when it is loaded.
import { spawnSync } from 'node:child_process';
import { addOnName } from '../../../server/http/native/uws-add-on.js';
import { root } from '../project.js';

export const hasUws =
  spawnSync(process.execPath, ['-e', `require('${addOnName}')`], { cwd: root }).status === 0;
if (!hasUws) console.log('uWebSockets.js does not load here: tests of it are left out');
