// Writes log lines to stderr: one JSON object each, or plain text at a terminal. Only this file writes to the
// console. Keys never reach the log; bodies and parameter values do only if `log.parameters` is set.
// Characters that could forge or garble a line are escaped.

import { visible } from '../../engine/internal.js';

const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogFields = Record<string, unknown>;
export type Log = (level: LogLevel, message: string, fields?: LogFields) => void;

export interface LogOptions {
  /** Lines below this level are not written. */
  level: LogLevel;
  format: 'json' | 'text';
  write?: (line: string) => void;
  now?: () => Date;
}

function printField(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Error ? (value.stack ?? value.message) : value;
}

function printJson(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const line: LogFields = { ts: time, level, msg: message };
  for (const [name, value] of Object.entries(fields)) line[name] = printField(value);
  // JSON itself escapes only the first 32 code points.
  return visible(JSON.stringify(line));
}

function printText(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const parts = [time.slice(11, 23), level.padEnd(5), message];
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) parts.push(`${name}=${JSON.stringify(printField(value))}`);
  }
  return visible(parts.join(' ').replace(/[\t\n\r]/g, ' '));
}

export function createLog(options: LogOptions): Log {
  const threshold = logLevels.indexOf(options.level);
  const write = options.write ?? ((line) => console.error(line));
  const now = options.now ?? (() => new Date());
  const print = options.format === 'json' ? printJson : printText;
  return (level, message, fields = {}) => {
    if (logLevels.indexOf(level) < threshold) return;
    write(print(now().toISOString(), level, message, fields));
  };
}

/** Prints output of commands, for people or other programs. */
export function printLine(text: string): void {
  console.log(text);
}

/** Prints plain text on stderr: diagnostics, and the last line of a command that failed. */
export function printErrorLine(text: string): void {
  console.error(text);
}
