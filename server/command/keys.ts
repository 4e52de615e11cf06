// `trellis keys add|list|revoke`: changes the key file, which a running server reads again by
// itself.
import { excerpt, fail, wallMs } from '../../engine/index.js';
import type { Config } from '../config/config.js';
import { exitCodes } from '../process/exit-code.js';
import { changeKeyFile, readKeyFile } from '../auth/key-file.js';
import { type KeyRecord, type Role, makeKey, roles } from '../auth/key-record.js';
import { ignoreInGit } from '../project/git-ignore.js';
import { configOf } from '../project/line-config.js';
import { type Command, type CommandLine, projectFlags } from '../terminal/command.js';
import { usageOf } from '../terminal/command-line.js';
import { shownPath } from '../terminal/wording.js';
import { printErrorLine, printLine } from '../observe/log.js';

export const keys: Command = {
  name: 'keys',
  about: 'Adds, lists and revokes the API keys of a project.',
  words: 'add NAME | list | revoke ID [PROJECT_DIR]',
  flags: {
    ...projectFlags,
    role: { value: 'ROLE', about: `What a new key may do: ${roles.join(', ')}.` },
    queries: { value: 'A,B*', about: 'The only queries a new key may call.' },
    expires: { value: 'DATE', about: 'When a new key ends.' },
  },
  run: changeKeys,
};

function changeKeys(line: CommandLine): number {
  const { words, flags } = line;
  switch (words[0]) {
    case 'add':
      return add(words[1], flags, configOf(line, words[2]));
    case 'list':
      return list(configOf(line, words[1]).keysFile);
    case 'revoke':
      return revoke(words[1], configOf(line, words[2]).keysFile);
    default:
      return fail(
        'CONFIG_INVALID',
        { what: 'trellis keys: one of add, list, revoke is needed.' },
        { hint: `Usage: ${usageOf(keys)}` },
      );
  }
}

function add(
  name: string | undefined,
  flags: ReadonlyMap<string, string>,
  { keysFile, dataDir, tenant }: Config,
): number {
  if (!name) {
    const hint = 'Such as `trellis keys add ci --role read`.';
    fail('CONFIG_INVALID', { what: 'trellis keys add: a name is needed.' }, { hint });
  }
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
  const bounds = { ...(queries && { queries }), ...(tenant !== '' && { tenant }) };
  const options = { name: name!, role: role as Role, ...bounds };
  const { record, text } = makeKey(expires ? { ...options, expires } : options, new Date(wallMs()));
  changeKeyFile(keysFile, (all) => [...all, record]);
  ignoreInGit(dataDir);
  printErrorLine(`Key ${record.id} (${record.role}) was added. It is shown only now:`);
  printLine(text);
  return exitCodes.ok;
}

function printKey({ id, name, role, queries, tenant, expires, created }: KeyRecord): string {
  const scope = queries ? ` queries ${queries.join(',')}` : '';
  const end = expires ? ` expires ${expires}` : '';
  const whose = tenant === undefined ? '' : ` tenant ${tenant}`;
  return `${id}  ${role}  ${name}  created ${created}${end}${whose}${scope}`;
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
    printErrorLine(
      `${shownPath(path)} holds no key now, and still asks for one. Remove it to need none.`,
    );
  }
  return exitCodes.ok;
}
