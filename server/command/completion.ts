// `trellis completion SHELL` prints a completion script. At each completion the script runs
// `trellis __complete WORDS`, which prints the possible words.
import { excerpt, fail } from '../../engine/internal.js';
import { printLine } from '../telemetry/log.js';
import { exitCodes } from '../lifecycle/exit-code.js';
import { configFromArguments } from './support/cli-config.js';
import { loadProgram, programOptions } from '../project/program.js';
import type { Command } from '../terminal/command.js';
import { completeWords } from '../terminal/complete-words.js';

const scripts: Record<string, string> = {
  bash: `_trellis() {
  local IFS=$'\\n'
  COMPREPLY=($(trellis __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ "\${COMPREPLY[0]}" == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _trellis trellis`,
  zsh: `#compdef trellis
_trellis() {
  local -a found
  found=(\${(f)"$(trellis __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -Q -- $found; else _files; fi
}
compdef _trellis trellis`,
  fish: `function __trellis_complete
    set -l words (commandline -opc)
    trellis __complete $words[2..] (commandline -ct) 2>/dev/null
end
complete -c trellis -a '(__trellis_complete)'`,
  powershell: `Register-ArgumentCompleter -Native -CommandName trellis -ScriptBlock {
  param($word, $line)
  $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word -eq '') { $words += '' }
  trellis __complete @words 2>$null |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}`,
};

export const completion: Command = {
  name: 'completion',
  about: 'Print a shell completion script.',
  words: 'SHELL',
  flags: {},
  run: ({ words }) => {
    const [shell] = words as [string];
    const script = Object.hasOwn(scripts, shell) ? scripts[shell]! : undefined;
    const what = `There is no completion script for ${excerpt(shell)}.`;
    const hint = `There are ${Object.keys(scripts).join(', ')}.`;
    printLine(script ?? fail('CONFIG_INVALID', { what }, { hint }));
    return exitCodes.ok;
  },
};

/** Prints the possible values of the last word, one per line. Never fails. */
export function printCompletions(words: readonly string[], commands: readonly Command[]): number {
  const found = completeWords(words, commands, () => programIn(words));
  if (found.length > 0) printLine(found.join('\n'));
  return exitCodes.ok;
}

/**
 * Returns the program of the project in --project or the working directory, or undefined if it does not
 * compile.
 */
function programIn(words: readonly string[]) {
  const at = words.indexOf('--project');
  const flags = new Map(at < 0 ? [] : [['project', words[at + 1] ?? '']]);
  try {
    return loadProgram(
      programOptions(configFromArguments({ words: [], flags, switches: new Set() })),
    ).program;
  } catch {
    return undefined;
  }
}
