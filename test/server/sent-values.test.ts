// `log.parameters`: what callers send is in the log and in /slowlog where the operator wants it, and only
// there; credentials never are.
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { SentValues, loggedPart } from '../../server/telemetry/logged-parameters.js';
import { type RunningApp, startApp, transports } from './running-app.js';

const secret = 'planted-provider-key';
const printed = (text: string, given: string[] = []): string => {
  const values = new SentValues([secret, secret.slice(0, 12), '']);
  return values.print(loggedPart(Buffer.from(text)), given);
};

describe('what is printed', () => {
  const key = `tk_abc_${'x'.repeat(32)}`;
  const escapes = [...secret].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('');
  const cases: [string, string, string][] = [
    [
      'as it came',
      '{"n":9007199254740993,"t":"é\\n\\u0022"}',
      '{"n":9007199254740993,"t":"é\\n\\u0022"}',
    ],
    ['a configured credential', `{"a":"${secret}!"}`, '{"a":"***!"}'],
    ['one written in escapes', `{"a":"${escapes}"}`, '{"a":"***"}'],
    ['a key of any server', `{"${key}":"${key}"}`, '{"***":"***"}'],
    ['the credential of the request', '{"a":"mine/1"}', '{"a":"***"}'],
    ['that one, escaped', '{"a":"mine\\/1"}', '{"a":"***"}'],
    ['nothing', '', ''],
  ];
  test.each(cases)('%s', (_, body, text) => expect(printed(body, ['mine/1', ''])).toBe(text));

  test('never more than 2,048 characters, cut within no character and no credential', () => {
    for (let before = 0; before < 12_000; before += 7) {
      const text = printed(`${'a'.repeat(before)}${secret.repeat(3)}${'\u{1F332}'.repeat(1_000)}`);
      expect(text.length).toBeLessThanOrEqual(2_049);
      for (let length = 6; length < secret.length; length += 5) {
        expect(text.includes(secret.slice(0, length))).toBe(false);
      }
      expect(/[\ud800-\udbff](?![\udc00-\udfff])/.test(text)).toBe(false);
    }
    // A window full of credentials shrinks: what is left of the last of them is not shown.
    expect(printed(secret.repeat(1_000))).toMatch(/^[*]+…$/);
  });
});

describe.each(transports)('%s', (transport) => {
  const apps: RunningApp[] = [];
  beforeAll(async () => {
    for (const values of ['true', 'false']) {
      const settings = { 'log.parameters': values, 'log.slow_after': '0', 'auth.api_key': secret };
      apps.push(await startApp(transport, settings));
    }
  });
  afterAll(() => {
    for (const app of apps) app.close();
  });

  const sent: [string, string][] = [
    ['/later', `{"ms":1,"name":"Ada","key":"${secret}"}`],
    ['/echo', `{"name":"Ada","key":"${secret}"}`],
    ['/faults', `{"name":"Ada","key":"${secret}"}`],
    ['/mcp', `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"name":"Ada","key":"${secret}"}}`],
  ];
  it.each(sent)('POST %s', async (path, body) => {
    for (const [at, app] of apps.entries()) {
      const id = `${path.slice(1)}-${transport}`;
      const headers = { 'x-api-key': secret, 'X-Request-Id': id };
      await app.request({ path, body, headers });
      const slow = await app.request({ method: 'GET', path: '/slowlog', headers });
      const list = JSON.parse(slow.text) as { request_id: string; values?: string }[];
      const entry = list.find(({ request_id }) => request_id === id)!;
      const line = JSON.parse(app.log.find((text) => text.includes(`"${id}"`))!);
      const wanted = at === 0 ? body.replaceAll(secret, '***') : undefined;
      expect([entry.values, line.values]).toEqual([wanted, wanted]);
      expect(`${slow.text}${app.log.join('')}`).not.toContain(secret);
    }
  });
});
