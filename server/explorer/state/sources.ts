// Loads the files of the project from the server: those in use, and those that it refused.
import { ask } from './api.js';

export interface Diagnostic {
  code: string;
  severity: 'error' | 'warning';
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  message: string;
  hint?: string;
}

export interface SourceFile {
  path: string;
  text: string;
  diagnostics: Diagnostic[];
}

export interface Sources {
  used: SourceFile[];
  refused?: { errors: number; reason: string; files: SourceFile[] };
}

export const readSources = async (): Promise<Sources> =>
  (await ask<Sources>('_explore/sources')).value;
