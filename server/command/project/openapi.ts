// `trellis openapi` prints the document of `GET /openapi.json` without a server (client.md 3).
import { basename, resolve } from 'node:path';
import { writeOwnFile } from '../../folder/generated-file.js';
import { documentOf } from '../../openapi/document.js';
import { printLine } from '../../telemetry/log.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { packageVersion } from '../../lifecycle/program-file.js';
import { requireProgram } from '../../project/compiled-project.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, projectFlags } from '../../terminal/command.js';
import { shownPath } from '../../terminal/format.js';

/** Beginning of a document. */
const isGenerated = /^\{\s*"openapi": "3\./;

export const openapi: Command = {
  name: 'openapi',
  about: 'Print an OpenAPI 3.1 document of the queries.',
  words: '[PROJECT_DIR]',
  flags: {
    ...projectFlags,
    out: { value: 'FILE', about: 'Output file, - for stdout (default: -).' },
    force: { about: 'Also overwrite a file that is not an OpenAPI document.' },
  },
  run: (line) => {
    const config = configFromArguments(line, line.words[0]);
    const document = documentOf(requireProgram(config).program, {
      title: basename(config.projectDir),
      version: packageVersion(),
      keys: config.auth.api_key !== '',
      admin: true,
    });
    const text = JSON.stringify(document, null, 2);
    const out = line.flags.get('out');
    if (out === undefined || out === '-') printLine(text);
    else {
      const force = line.switches.has('force');
      writeOwnFile(resolve(out), `${text}\n`, {
        isGenerated: (old) => isGenerated.test(old),
        force,
      });
      printLine(shownPath(resolve(out)));
    }
    return exitCodes.ok;
  },
};
