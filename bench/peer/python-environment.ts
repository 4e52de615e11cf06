// The Python environment of the benchmarks: bench/peers/python (git-ignored: peers are measured, never shipped),
// made by the first run, with packages of fixed versions. What cannot be had here has a reason, which the caller
// prints.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { failureOf } from './peer-process.js';

const environment = resolve('bench', 'peers', 'python');

/** The program that runs peers. */
export const environmentPython = join(environment, 'bin', 'python');

export interface PythonPackage {
  /** What pip installs. */
  spec: string;
  /** The module that Python imports. */
  module: string;
  /** Further arguments of pip. */
  pip: readonly string[];
}

/** The reason why there is no environment, undefined after it is there. */
export function makeEnvironment(): string | undefined {
  if (process.platform === 'win32') return 'named pipes are not available on Windows';
  if (
    existsSync(environmentPython) &&
    failureOf(environmentPython, ['-m', 'pip', '--version']) === undefined
  )
    return undefined;
  console.log('making a Python environment in bench/peers/python');
  return failureOf('python3', ['-m', 'venv', '--clear', environment]);
}

/** Installs a package if Python cannot import it. Returns the reason if it still cannot. */
export function installPackage({ spec, module, pip }: PythonPackage): string | undefined {
  const imports = (): string | undefined =>
    failureOf(environmentPython, ['-c', `import numpy, ${module}`]);
  if (imports() === undefined) return undefined;
  console.log(`installing ${spec} into bench/peers/python`);
  const limits = ['--disable-pip-version-check', '--retries', '1', '--timeout', '15', '--quiet'];
  return (
    failureOf(environmentPython, ['-m', 'pip', 'install', ...limits, ...pip, spec, 'numpy']) ??
    imports()
  );
}
