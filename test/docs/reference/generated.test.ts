// The generated pages of server/docs/reference are what the code says. `-u` writes them.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { families } from '../../../server/telemetry/metric-definitions.js';
import { root } from '../../support/project.js';
import { diagnosticCodes, diagnosticPages, notedCodes } from './diagnostics-page.js';
import { builtInRoutes, httpPage, notedRoutes } from './http-page.js';
import { metricsPage, notedMetrics } from './metrics-page.js';

const folder = join(root, 'server/docs/reference');

describe('diagnostics', () => {
  test('every code has a note, and every note has a code', () => {
    expect(notedCodes().toSorted()).toEqual(diagnosticCodes());
  });

  test.each(diagnosticPages())('%s is generated from the compiler', async (file, text) => {
    await expect(text).toMatchFileSnapshot(join(folder, file));
  });
});

describe('the HTTP reference', () => {
  test('every route has a note, and every note has a route', () => {
    expect(notedRoutes().toSorted()).toEqual(builtInRoutes().toSorted());
  });

  test('is generated from the OpenAPI paths', async () => {
    await expect(httpPage()).toMatchFileSnapshot(join(folder, 'http.md'));
  });
});

describe('the reference of metrics', () => {
  test('every metric has a note, and every note has a metric', () => {
    expect(notedMetrics().toSorted()).toEqual(Object.keys(families).toSorted());
  });

  test('is generated from the families', async () => {
    await expect(metricsPage()).toMatchFileSnapshot(join(folder, 'metrics-and-logs.md'));
  });
});
