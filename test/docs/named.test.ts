// Whatever a page, a hint or a message of the product names is there: flags, commands, configuration keys and routes.
// A name that nothing has sends the reader of an error into the dark.
import { describe, expect, test } from 'vitest';
import { errorCodes, errorHint, errorMessage } from '../../engine/base/errors.js';
import { commands } from '../../server/command/cli.js';
import { keySchemas } from '../../server/config/config-schema.js';
import { renamedKeys } from '../../server/config/renamed-keys.js';
import { adminPaths, graphPaths, openPaths } from '../../server/openapi/built-in-paths.js';
import { blocksOf, readManual } from '../support/page.js';
import { readSources } from '../support/source-tree.js';
import { faultsOf } from './named.js';

const known = {
  commands: new Map(commands.map(({ name, words, flags }) => [name, { words, flags }])),
  keys: new Set(keySchemas.keys()),
  routes: new Set([...openPaths, ...graphPaths, ...adminPaths].map(([path]) => path)),
};
/** These name former keys so that a reader finds the present ones. */
const listsFormer = /renamed-keys\.ts$|CHANGELOG|upgrade|configuration\.md$/i;
const list = (faults: string[]): void => expect(faults).toEqual([]);

describe('names in pages and texts', () => {
  test('of hints and messages of errors', () => {
    list(
      errorCodes.flatMap((code) =>
        faultsOf(
          `${errorMessage({ code, args: {} })}\n${errorHint({ code, args: {} }) ?? ''}`,
          known,
        ).map((fault) => `${code}: ${fault}`),
      ),
    );
  });

  test('of texts in the sources', () => {
    const said = /^.*\b(?:hint|what|about|message):? ?(?:=|\(|\?|:)? ?['"`].*$/gm;
    list(
      [...readSources('engine'), ...readSources('server')].flatMap(({ path, text }) =>
        faultsOf((text.match(said) ?? []).join('\n').replaceAll('\\`', '`'), known).map(
          (fault) => `${path}: ${fault}`,
        ),
      ),
    );
  });

  test('of keys, by their present names in every source and on every page but the list of former names', () => {
    const former = [...renamedKeys.keys()].map((key) => key.replace('.', '\\.')).join('|');
    const name = new RegExp(`\`(?:${former})\`|\\[?\\bcluster\\.(?:databases|scatter)\\b`, 'g');
    const texts = [...readSources('engine'), ...readSources('server'), ...readManual()];
    list(
      texts
        .filter(({ path }) => !listsFormer.test(path))
        .flatMap(({ path, text }) => (text.match(name) ?? []).map((key) => `${path}: ${key}`)),
    );
  });

  test('of pages, in words and in blocks for a shell', () => {
    list(
      readManual().flatMap((page) => {
        const lines = blocksOf(page)
          .filter(({ language }) => language === 'sh')
          .flatMap(({ text }) => text.split('\n'))
          .map((line) => `\`${line.replace(/#.*/, '').trim()}\``);
        const words = page.text.replaceAll(/^(`{3,}).*\n[\s\S]*?^\1$/gm, '');
        return faultsOf([words, ...lines].join('\n'), known).map(
          (fault) => `${page.path}: ${fault}`,
        );
      }),
    );
  });

  test.each([
    ['see `trellis serve --cluster`', 'trellis serve has no --cluster'],
    ['`npx trellisdb serv`', 'there is no command serv'],
    ['raise `limits.rowz`', 'there is no key limits.rowz'],
    ['`GET /livezz`', 'there is no route /livezz'],
    ['`trellis cluster status`, `limits.*`, `POST /<QueryName>`, `DELETE /worksOf`', undefined],
  ])('a name that is not there is found: %s', (text, fault) => {
    expect(faultsOf(text, known)).toEqual(fault === undefined ? [] : [fault]);
  });
});
