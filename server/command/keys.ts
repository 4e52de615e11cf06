// `trellis keys add|list|rotate|revoke` changes the key file. A running server reads the file again after a
// change.
import { excerpt, fail, wallMs } from '../../engine/internal.js';
import type { Config } from '../config/config.js';
import { exitCodes } from '../lifecycle/exit-code.js';
import { changeKeyFile, readKeyFile } from '../auth/key-file.js';
import { type KeyRecord, type Role, makeKey, roles, rotateKey } from '../auth/key-record.js';
import { readKeyUse } from '../auth/key-use.js';
import { ignoreInGit } from '../project/git-ignore.js';
import { configFromArguments } from './support/cli-config.js';
import { type Command, type CommandLine, projectFlags } from '../terminal/command.js';
import { usageOf } from '../terminal/parse-flags.js';
import { shownPath } from '../terminal/format.js';
import { printErrorLine, printLine } from '../telemetry/log.js';

export const keys: Command = {
  name: 'keys',
  about: 'Add, list, rotate and revoke API keys.',
  words: 'add NAME | list | rotate ID | revoke ID [PROJECT_DIR]',
  flags: {
    ...projectFlags,
    role: { value: 'ROLE', about: `add: role of the key: ${roles.join(', ')}.` },
    queries: { value: 'A,B*', about: 'add: queries that the key may call (default: all).' },
    expires: { value: 'DATE', about: 'add: date on which the key expires (default: never).' },
    overlap: {
      value: 'TIME',
      about: 'rotate: how long the former secret stays valid (default: 24h).',
    },
  },
  run: changeKeys,
};

function changeKeys(line: CommandLine): number {
  const { words, flags } = line;
  switch (words[0]) {
    case 'add':
      return add(words[1], flags, configFromArguments(line, words[2]));
    case 'list':
      return list(configFromArguments(line, words[1]).keysFile);
    case 'rotate':
      return rotate(words[1], flags.get('overlap'), configFromArguments(line, words[2]).keysFile);
    case 'revoke':
      return revoke(words[1], configFromArguments(line, words[2]).keysFile);
    default:
      return fail(
        'CONFIG_INVALID',
        { what: 'trellis keys: one of add, list, rotate, revoke is needed.' },
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

function printKey(
  { id, name, role, queries, tenant, expires, created, former = [] }: KeyRecord,
  used: string | undefined,
): string {
  const scope = queries ? ` queries ${queries.join(',')}` : '';
  const end = expires ? ` expires ${expires}` : '';
  const whose = tenant === undefined ? '' : ` tenant ${tenant}`;
  const before = former.map(({ until }) => ` former until ${until}`).join('');
  const last = ` used ${used ?? 'never'}`;
  return `${id}  ${role}  ${name}  created ${created}${last}${end}${before}${whose}${scope}`;
}

function list(path: string): number {
  const used = readKeyUse(path);
  for (const key of readKeyFile(path)) printLine(printKey(key, used.get(key.id)));
  return exitCodes.ok;
}

const overlapForm = /^(\d{1,6})(s|m|h|d)$/;
const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function overlapMs(text = '24h'): number {
  const [, count, unit] = overlapForm.exec(text) ?? [];
  if (unit === undefined) {
    const what = `--overlap must be a time like 24h or 30m, got ${excerpt(text)}.`;
    fail('CONFIG_INVALID', { what });
  }
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}

function rotate(wanted: string | undefined, overlap: string | undefined, path: string): number {
  const now = wallMs();
  const until = new Date(now + overlapMs(overlap));
  let made: ReturnType<typeof rotateKey> | undefined;
  changeKeyFile(path, (keys) => {
    const found = keys.filter(({ id, name }) => id === wanted || name === wanted);
    if (found.length !== 1) {
      const many = found.length === 0 ? 'there is no key' : 'several keys have the name';
      const what = `trellis keys rotate: ${many} ${excerpt(wanted ?? '')}.`;
      fail('CONFIG_INVALID', { what }, { hint: 'See `trellis keys list`.' });
    }
    made = rotateKey(found[0]!, until, new Date(now));
    return keys.map((key) => (key === found[0] ? made!.record : key));
  });
  const { record, text } = made!;
  const till = `its former text is good until ${until.toISOString()}`;
  printErrorLine(`Key ${record.id} (${record.role}) has a new text, shown only now; ${till}:`);
  printLine(text);
  return exitCodes.ok;
}

function revoke(wanted: string | undefined, path: string): number {
  let left = 0;
  let revoked = 0;
  changeKeyFile(path, (keys) => {
    const remaining = keys.filter(({ id, name }) => id !== wanted && name !== wanted);
    left = remaining.length;
    revoked = keys.length - left;
    if (!wanted || revoked === 0) {
      const what = `trellis keys revoke: there is no key ${excerpt(wanted ?? '')}.`;
      fail('CONFIG_INVALID', { what }, { hint: 'See `trellis keys list`.' });
    }
    return remaining;
  });
  printErrorLine(`Revoked: ${revoked}.`);
  if (left === 0) {
    printErrorLine(
      `${shownPath(path)} holds no key now, and still asks for one. Remove it to need none.`,
    );
  }
  return exitCodes.ok;
}
