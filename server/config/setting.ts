// One value of the configuration and where it stands. Invariant: what a project's files say is told apart from what
// the one who starts the program says: a project is data, and may be somebody else's.

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Setting {
  value: unknown;
  /** `default`, `flag --port`, `environment TRELLIS_PORT`, `trellis.toml`, ... */
  source: string;
  /** It stands in a file of the project. */
  fromProject?: boolean;
}

/** A variable that is empty counts as none. */
export const isGiven = (value: string | undefined): value is string =>
  value !== undefined && value.trim() !== '';
