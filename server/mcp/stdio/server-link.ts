// Finds the server of a project, or starts one.
//
// Invariant: this process never opens the data. If several processes start a server at the same time, one
// server gets the data and the other processes find it.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fail } from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { programFile } from '../../lifecycle/program-file.js';
import { trustOwnCertificate } from '../../command/support/own-certificate.js';
import { findServer } from '../../command/support/running-server.js';
import type { Target } from './forward.js';

export interface LinkOptions {
  /** Address of a server that this process must not start. */
  url?: string;
  config: Config;
  mayStart: boolean;
  /** Flags that name the data, passed to the started server. */
  dataFlags: readonly string[];
  /** Prints the output of a server that cannot start. */
  report: (text: string) => void;
}

const pollIntervalMs = 50;
/** A server listens before it reads its data, so a longer start has probably failed. */
const openingMs = 60_000;
/** Idle time after which a server that was started here exits. */
const idleTime = '15m';
const lockedCode = 75;

export class ServerLink {
  #child: { server: ChildProcess; log: string; from: number } | undefined;
  /** Exit code of the last start that failed. */
  failedCode: number | undefined;

  constructor(private readonly options: LinkOptions) {}

  /** Returns the address of the server. Waits for a server until `latest`. Fails NOT_READY. */
  async find(latest: number, mayStart = this.options.mayStart): Promise<Target> {
    const { url, config } = this.options;
    if (url !== undefined) return { url };
    for (;;) {
      const found = findServer(config);
      if (typeof found === 'object') {
        const { origin, socketPath } = found;
        return {
          url: `${origin}/mcp`,
          ...(socketPath !== undefined && { socketPath }),
          tls: trustOwnCertificate(config),
        };
      }
      if (performance.now() > latest || this.failedCode !== undefined) {
        return fail('NOT_READY', { phase: 'no server is reached', progress: 0 });
      }
      if (found === undefined && mayStart && this.#child === undefined) this.#start();
      await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
    }
  }

  /**
   * Waits until the server that was started here listens or ends, at most `timeoutMs` milliseconds. After
   * that, it prints a message, and calls fail NOT_READY. Never fails.
   */
  async open(ms: number, timeoutMs = openingMs): Promise<void> {
    const latest = performance.now() + timeoutMs;
    do {
      const until = Math.min(performance.now() + ms, latest);
      const isFound = await this.find(until).then(
        () => true,
        () => false,
      );
      if (isFound) return;
    } while (this.#child !== undefined && performance.now() < latest);
    if (this.#child === undefined) return;
    const { server, log } = this.#child;
    const waited = `${Math.round(timeoutMs / 1000)} s`;
    this.options.report(
      `The server that was started (process ${server.pid}) does not listen after ${waited}: calls fail NOT_READY until it does. Its log: ${log}`,
    );
  }

  #start(): void {
    const { config, dataFlags } = this.options;
    const log = join(dirname(config.dataDir), 'server.log');
    const output = openLog(log);
    const from = output === 'ignore' ? 0 : statSync(log).size;
    const flags = ['--port', '0', '--exit-when-idle', idleTime, ...dataFlags];
    const argv = [programFile(), 'serve', config.projectDir, ...flags];
    const child = spawn(process.execPath, argv, {
      detached: true,
      stdio: ['ignore', output, output],
    });
    if (typeof output === 'number') closeSync(output);
    child.unref();
    this.#child = { server: child, log, from };
    child.once('error', () => this.#ended(exitCodes.internal));
    child.once('exit', (code) => this.#ended(code ?? exitCodes.ok));
  }

  #ended(code: number): void {
    const { log, from } = this.#child!;
    this.#child = undefined;
    // Another server has the data, or this server was stopped.
    if (code === exitCodes.ok || code === lockedCode) return;
    this.failedCode = code;
    try {
      this.options.report(readFileSync(log).subarray(from).toString().trimEnd());
    } catch {
      this.options.report(`The server ended with ${code}.`);
    }
  }

  /** Lets the next call start a server again. */
  forget(): void {
    this.failedCode = undefined;
  }
}

/** Opens the log of the started server, next to the data. The folder may have come with a project. */
export function openLog(path: string): number | 'ignore' {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const isLarge = (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) > 1024 * 1024;
    const { O_WRONLY, O_CREAT, O_APPEND, O_TRUNC, O_NOFOLLOW = 0 } = constants;
    // Links are not followed: a project could contain one.
    const how = O_WRONLY | O_CREAT | O_NOFOLLOW | (isLarge ? O_TRUNC : O_APPEND);
    return openSync(path, how, 0o600);
  } catch {
    return 'ignore';
  }
}
