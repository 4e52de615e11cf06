// Log lines on stderr: one JSON object each, or plain text for people at a terminal. The only
// writer of the console. Keys never come here, bodies and parameter values only where `log.parameters`
// says so; characters that could forge or garble a line are escaped.

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
  // JSON itself escapes only the first 32.
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

/** What commands print for people or other programs. */
export function printLine(text: string): void {
  console.log(text);
}

/** Plain text on stderr: diagnostics, and the last line of a command that failed. */
export function printErrorLine(text: string): void {
  console.error(text);
}
