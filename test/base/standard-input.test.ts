// Processes whose input arrives late and in pieces: they wait for it, and never fail with EAGAIN.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openEmbedded } from '../support/server/embedded-server.js';
import { makeFolder, root } from '../support/project.js';

interface End {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program that gets each piece only after it has waited for a moment. */
function runWith(args: readonly string[], pieces: readonly (string | Uint8Array)[]): Promise<End> {
  const child = spawn(process.execPath, args, { stdio: 'pipe' });
  const end: End = { status: null, stdout: '', stderr: '' };
  child.stdout.on('data', (text) => (end.stdout += text));
  child.stderr.on('data', (text) => (end.stderr += text));
  const rest = [...pieces];
  const feed = (): void => {
    const piece = rest.shift();
    if (piece === undefined) child.stdin.end();
    else {
      child.stdin.write(piece);
      setTimeout(feed, 300);
    }
  };
  // The program has started, and found nothing.
  setTimeout(feed, 700);
  return new Promise((resolve) => child.once('close', (status) => resolve({ ...end, status })));
}

test('the check of a data file waits for its options and checksums', async () => {
  const folder = makeFolder();
  const opened = await openEmbedded(
    { sources: { 'main.hx': 'N::A { a: I32 }\n' }, config: {} },
    folder,
  );
  await opened.db.close();
  const script = join(root, 'dist/engine/storage/folder/preopen-check-child.js');
  const path = join(folder, 'data/graph/data.mdb');
  for (const pieces of [['{}\n'], ['{', '}', '\n']]) {
    const { status, stdout, stderr } = await runWith([script, path], pieces);
    expect([status, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ broken: [] });
  }
});

test('fmt and query read a source that arrives late', async () => {
  const main = join(root, 'dist/bin/main.js');
  const source = ['QUERY one() =>', ' RETURN', ' 1\n'];
  const formatted = await runWith([main, 'fmt', '-'], source);
  expect(formatted).toEqual({ status: 0, stdout: 'QUERY one() =>\n    RETURN 1\n', stderr: '' });
  const folder = makeFolder();
  writeFileSync(join(folder, 'main.hx'), 'N::A { a: I32 }\n');
  const asked = await runWith([main, 'query', folder, '-'], ['RETURN', ' 1 + 1']);
  expect(asked.stderr).not.toContain('EAGAIN');
});
