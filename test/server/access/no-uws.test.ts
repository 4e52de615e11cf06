// A machine on which uWebSockets.js does not load is served all the same, and the log says why it does not.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../support/project.js';
import { startServer } from '../../support/server/server.js';

const sources = { 'main.hx': 'QUERY ping() => RETURN "pong"' };

test('node:http serves if no add-on loads, and the reasons are logged', async () => {
  const hook = join(makeFolder(), 'hook.cjs');
  // The text of the C library, and what Node adds.
  const told = String.raw`libc.so.6: version 'GLIBC_2.38' not found\nRequire stack:`;
  writeFileSync(
    hook,
    `const Module = require('node:module');
     const load = Module._load;
     Module._load = function (name, ...rest) {
       if (name.startsWith('uWebSockets.js-')) throw new Error("${told}");
       return load.call(this, name, ...rest);
     };`,
  );
  const server = await startServer({ sources, env: { NODE_OPTIONS: `--require ${hook}` } });
  try {
    expect(await server.client.post('ping')).toEqual({ data: 'pong' });
    const line = server.stderr.split('\n').find((one) => one.includes('does not load'));
    const reason = "libc.so.6: version 'GLIBC_2.38' not found";
    expect(JSON.parse(line!)).toMatchObject({
      level: 'warn',
      node: process.version,
      reasons: expect.arrayContaining([reason]),
    });
  } finally {
    await server.dispose();
  }
});
