// The place where the commands of the manual run. Each page has an empty folder, in which `trellis` is a
// command and `trellisdb` is an installed package. The demo is at server/demo, and one server of the demo
// listens on the port of the manual.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { transformSync } from 'esbuild';
import { makeFolder, root } from '../support/project.js';
import type { Block } from '../support/page.js';
import type { Server } from '../support/server/server.js';

export interface Done {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Where a program runs, and what it inherits. */
interface Surroundings {
  cwd: string;
  env: Record<string, string | undefined>;
}

const manualPort = 6969;
/** Generous: a block ends within seconds on a machine without other work. */
const outputMs = 80_000;

/** Python with the official client, if it is here. */
export const pythonWithClient: boolean =
  spawnSync('python3', ['-c', 'import helix'], { stdio: 'ignore' }).status === 0;

export class Workplace {
  readonly folder = makeFolder();
  readonly #path: string;
  #files = 0;

  /** `project`: the folder of the demo, with the data of the server that runs on `port`. */
  constructor(private readonly server: Pick<Server, 'port'> & Partial<Pick<Server, 'project'>>) {
    const commands = join(this.folder, '.commands');
    mkdirSync(commands);
    const main = join(root, 'dist/bin/main.js');
    const script = `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`;
    writeFileSync(join(commands, 'trellis'), script, { mode: 0o755 });
    this.#path = `${commands}${delimiter}${process.env.PATH}`;
    if (server.project !== undefined) {
      mkdirSync(join(this.folder, 'server'));
      // Commands find the data of the running server in it.
      symlinkSync(server.project, join(this.folder, 'server/demo'));
    }
    mkdirSync(join(this.folder, 'node_modules'));
    symlinkSync(root, join(this.folder, 'node_modules/trellisdb'));
    symlinkSync(join(root, 'node_modules/helix-ts'), join(this.folder, 'node_modules/helix-ts'));
  }

  /** Runs a block to its end; for the manual's port the server's own is taken. */
  async run({ language, text: written }: Block): Promise<Done> {
    const { port } = this.server;
    const done = await this.#spawn(...this.#command(language, this.textOf(written)));
    const back = (output: string) =>
      output.replaceAll(String(port), String(manualPort)).replaceAll(`${this.folder}/`, '');
    return { ...done, stdout: back(done.stdout), stderr: back(done.stderr) };
  }

  /** How a block would be run, for a caller that starts it itself. */
  command({ language, text }: Block): { program: string; args: string[]; options: Surroundings } {
    const [program, args] = this.#command(language, this.textOf(text));
    return { program, args, options: this.#surroundings() };
  }

  /** The text with the port of the server in place of the manual's. */
  textOf(written: string): string {
    return written.replaceAll(String(manualPort), String(this.server.port));
  }

  #command(language: string, text: string): [string, string[]] {
    if (language === 'sh') return ['bash', ['-e', '-o', 'pipefail', '-c', text]];
    if (language === 'python') return ['python3', ['-c', text]];
    const code = transformSync(text, { loader: 'ts', format: 'esm' }).code;
    const path = join(this.folder, `block-${++this.#files}.mjs`);
    writeFileSync(path, code);
    return [process.execPath, [path]];
  }

  #surroundings(): Surroundings {
    const configured = /^(TRELLIS|HELIX|OPENAI|AZURE_OPENAI|GEMINI|EMBEDDING)_/;
    const inherited = Object.entries(process.env).filter(([name]) => !configured.test(name));
    const env = { ...Object.fromEntries(inherited), PATH: this.#path, NO_COLOR: '1' };
    return { cwd: this.folder, env };
  }

  #spawn(program: string, args: string[]): Promise<Done> {
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, {
        ...this.#surroundings(),
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: outputMs,
        killSignal: 'SIGKILL',
      });
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
  }
}
