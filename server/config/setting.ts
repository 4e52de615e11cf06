// One value of the configuration with its source. Invariant: values from files of a project are distinguished
// from those of the command line and the environment, because a project may come from an untrusted author.

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Setting {
  value: unknown;
  /** `default`, `flag --port`, `environment TRELLIS_PORT`, `trellis.toml`, ... */
  source: string;
  /** Whether the value comes from a file of the project. */
  fromProject?: boolean;
}

/** Returns false for an empty variable. */
export const isSet = (value: string | undefined): value is string =>
  value !== undefined && value.trim() !== '';
