// Types of a command of `trellis`: its name, words and flags with one sentence each, and the function that
// runs it. The flags that many commands share are declared here.

export interface CommandLine {
  /** Words that are not flags, without the name of the command. */
  words: string[];
  flags: Map<string, string>;
  /** Names of the flags without a value. */
  switches: Set<string>;
}

export interface Flag {
  /** Name of the value in help. A switch has no value. */
  value?: string;
  about: string;
  /** A name that the flag had before. It is still accepted, with a warning. */
  formerly?: string;
}
export type Flags = Readonly<Record<string, Flag>>;

export interface Command {
  name: string;
  /** One sentence in the imperative. */
  about: string;
  /** Usage such as `FILE... [TYPE]`: brackets mark optional words, `|` separates alternatives. */
  words?: string;
  /** Command lines that help shows, with names of the template `start`. */
  examples?: readonly string[];
  flags: Flags;
  run: (line: CommandLine) => number | Promise<number>;
}

/** Flags of each command about a project. */
export const projectFlags: Flags = {
  project: { value: 'DIR', about: 'Project folder (default: the working directory).' },
  data: { value: 'DIR', about: 'Data directory (default: PROJECT/.trellis/data).' },
  tenant: { value: 'NAME', about: 'Database of this tenant (default: the main database).' },
  instance: { value: 'NAME', about: 'Section [local.NAME] of helix.toml to use.' },
};

/** Flag of each command that connects to the running server. */
export const keyFlag: Flags = {
  key: { value: 'KEY', about: 'API key for the running server.' },
};
