// Options of a benchmark on the command line: `--seconds 5`, `--peers no`.

/** The number after `--name`, or the standard. */
export function numberOption(args: readonly string[], name: string, standard: number): number {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? standard : Number(args[at + 1]);
}

/** The words after `--name`, split at commas, or the standard. */
export function listOption(
  args: readonly string[],
  name: string,
  standard: readonly string[],
): readonly string[] {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? standard : (args[at + 1] ?? '').split(',');
}
