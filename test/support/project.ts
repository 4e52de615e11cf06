// Throw-away projects on disk: sources and configuration as text in folders of their own, removed when the test file
// ends.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's own root folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Sources of a folder, or a file, of this project. */
export function sourcesOf(place: string): { path: string; text: string }[] {
  const names = place.endsWith('.hx')
    ? [place]
    : readdirSync(join(root, place))
        .filter((name) => name.endsWith('.hx'))
        .map((name) => `${place}/${name}`);
  return names.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

export type ConfigValue = string | number | boolean | string[];

export interface Project {
  /** File name to text, e.g. `schema.hx`. */
  sources: Record<string, string | Buffer>;
  /** Dotted keys of trellis.toml. */
  config?: Record<string, ConfigValue>;
  /** The whole trellis.toml instead. */
  toml?: string;
}

const folders = new Set<string>();

process.on('exit', removeFolders);

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-test-'));
  folders.add(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  folders.delete(folder);
  // What still writes there is being killed: a folder that is not empty yet soon is.
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** All that were made. */
export function removeFolders(): void {
  for (const folder of folders) removeFolder(folder);
}

function printConfig(config: Record<string, ConfigValue>): string {
  const lines = Object.entries(config).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return `${lines.join('\n')}\n`;
}

export function writeProject(folder: string, project: Project): void {
  for (const [name, text] of Object.entries(project.sources)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const toml = project.toml ?? (project.config && printConfig(project.config));
  if (toml !== undefined) writeFileSync(join(folder, 'trellis.toml'), toml);
}
