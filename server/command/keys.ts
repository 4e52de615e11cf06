// `trellis keys add|list|revoke`: changes the key file, which a running server reads again by
// itself.
import { excerpt, fail } from '../../engine/index.js';
import type { CommandLine } from './arguments.js';
import type { Config } from '../config/config.js';
import { exitCodes } from '../process/exit-code.js';
import {
  type KeyRecord,
  type Role,
  changeKeyFile,
  makeKey,
  readKeyFile,
  roles,
} from '../auth/key-file.js';
import { printErrorLine, printLine } from '../observe/log.js';

export function keysCommand(
  { words, flags }: CommandLine,
  configOf: (projectDir?: string) => Config,
): number {
  switch (words[0]) {
    case 'add':
      return add(words[1], flags, configOf(words[2]).keysFile);
    case 'list':
      return list(configOf(words[1]).keysFile);
    case 'revoke':
      return revoke(words[1], configOf(words[2]).keysFile);
    default:
      return fail(
        'CONFIG_INVALID',
        { what: 'trellis keys: one of add, list, revoke is needed.' },
        { hint: 'Usage: trellis keys add NAME --role ROLE | list | revoke ID' },
      );
  }
}

function add(name: string | undefined, flags: ReadonlyMap<string, string>, path: string): number {
  if (!name) fail('CONFIG_INVALID', { what: 'trellis keys add: a name is needed.' });
  const role = flags.get('role');
  if (!roles.includes(role as Role)) {
    const got = role === undefined ? 'nothing' : excerpt(role);
    fail('CONFIG_INVALID', { what: `--role must be ${roles.join(', ')}, got ${got}.` });
  }
  const queries = flags
    .get('queries')
    ?.split(',')
    .map((query) => query.trim())
    .filter((query) => query !== '');
  const expires = flags.get('expires');
  if (expires !== undefined && Number.isNaN(Date.parse(expires))) {
    fail('CONFIG_INVALID', { what: `--expires must be a date, got ${excerpt(expires)}.` });
  }
  const options = { name: name!, role: role as Role, ...(queries && { queries }) };
  const { record, text } = makeKey(expires ? { ...options, expires } : options, new Date());
  changeKeyFile(path, (keys) => [...keys, record]);
  printErrorLine(`Key ${record.id} (${record.role}) was added. It is shown only now:`);
  printLine(text);
  return exitCodes.ok;
}

function printKey({ id, name, role, queries, expires, created }: KeyRecord): string {
  const scope = queries ? ` queries ${queries.join(',')}` : '';
  const end = expires ? ` expires ${expires}` : '';
  return `${id}  ${role}  ${name}  created ${created}${end}${scope}`;
}

function list(path: string): number {
  for (const key of readKeyFile(path)) printLine(printKey(key));
  return exitCodes.ok;
}

function revoke(wanted: string | undefined, path: string): number {
  let left = 0;
  let revoked = 0;
  changeKeyFile(path, (keys) => {
    const kept = keys.filter(({ id, name }) => id !== wanted && name !== wanted);
    left = kept.length;
    revoked = keys.length - left;
    if (!wanted || revoked === 0) {
      const what = `trellis keys revoke: there is no key ${excerpt(wanted ?? '')}.`;
      fail('CONFIG_INVALID', { what }, { hint: 'See `trellis keys list`.' });
    }
    return kept;
  });
  printErrorLine(`Revoked: ${revoked}.`);
  if (left === 0) {
    printErrorLine(`${path} holds no key now, and still asks for one. Remove it to need none.`);
  }
  return exitCodes.ok;
}
