// Whether uWebSockets.js loads here: its add-ons are built for some versions of Node and of the C library.
// A process of its own is asked, as the add-on reads the environment when it is loaded.
import { spawnSync } from 'node:child_process';
import { root } from '../project.js';

const tries = `try { require('uWebSockets.js') } catch { require('uWebSockets.js-next') }`;

export const hasUws = spawnSync(process.execPath, ['-e', tries], { cwd: root }).status === 0;
if (!hasUws) console.log('uWebSockets.js does not load here: tests of it are left out');
