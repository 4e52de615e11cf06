// Compares server/errors.md with the catalogue of errors. `-u` writes the page again.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/project.js';
import { errorsPage } from './errors-page.js';

test('the page of errors matches the catalogue', async () => {
  await expect(errorsPage()).toMatchFileSnapshot(join(root, 'server/errors.md'));
});
