// What a command of `trellis` is: its name, its words and flags with a sentence each, and what it
// does with a line that was read. The flags that many commands share stand here once.

export interface CommandLine {
  /** Words that are no flags, without the command. */
  words: string[];
  flags: Map<string, string>;
  /** Flags without a value. */
  switches: Set<string>;
}

export interface Flag {
  /** What its value is; a switch has none. */
  value?: string;
  about: string;
}
export type Flags = Readonly<Record<string, Flag>>;

export interface Command {
  name: string;
  /** One sentence. */
  about: string;
  /** `FILE... [TYPE]`: with brackets what may be left out; alternatives are told apart by `|`. */
  words?: string;
  flags: Flags;
  run: (line: CommandLine) => number | Promise<number>;
}

/** Of a command about a project: which one, and where its data are. */
export const projectFlags: Flags = {
  project: { value: 'DIR', about: 'The folder of the project; this one unless said.' },
  data: { value: 'DIR', about: 'The data directory; PROJECT/.trellis/data unless configured.' },
  tenant: { value: 'NAME', about: 'Whose database, of those under [tenants.databases].' },
  instance: { value: 'NAME', about: 'Which [local.NAME] of helix.toml counts.' },
};

/** For commands that ask the server which has the data open. */
export const keyFlag: Flags = {
  key: { value: 'KEY', about: 'The API key to show to the running server.' },
};
