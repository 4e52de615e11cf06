// server/errors.md is what the catalogue says. `-u` writes it anew.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/project.js';
import { errorsPage } from './errors-page.js';

test('the page of errors is made from the catalogue', async () => {
  await expect(errorsPage()).toMatchFileSnapshot(join(root, 'server/errors.md'));
});
