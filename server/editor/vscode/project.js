// Which folders are projects of TrellisDB, and which program speaks for one. `.hx` is the ending of Haxe as well,
// so a file alone says nothing; and a name on its own, as npx takes it, may be the package of a stranger.
const { existsSync, readFileSync } = require('node:fs');
const { dirname, join, relative } = require('node:path');

const markers = ['trellis.toml', 'helix.toml', 'config.hx.json', 'node_modules/trellisdb/package.json'];

function dependsOnUs(folder) {
  try {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return Object.hasOwn({ ...dependencies, ...devDependencies }, 'trellisdb');
  } catch {
    return false;
  }
}

const isProject = (folder) =>
  markers.some((name) => existsSync(join(folder, name))) || dependsOnUs(folder);

/** Whether a file lies in a project that is the folder, or lies below it. */
function isOfProject(folder, file) {
  const down = relative(folder, file);
  if (down === '' || down.startsWith('..') || down === file) return false;
  for (let at = dirname(file); ; at = dirname(at)) {
    if (isProject(at)) return true;
    if (relative(folder, at) === '' || dirname(at) === at) return false;
  }
}

/** Words to start `trellis` with: what the user has set, the project's own program, or the installed package. */
function commandFor(folder, configured, platform = process.platform) {
  if (Array.isArray(configured) && configured.length > 0) return configured;
  const isWindows = platform === 'win32';
  const own = join(folder, 'node_modules/.bin', isWindows ? 'trellis.cmd' : 'trellis');
  if (existsSync(own)) return [own];
  return [isWindows ? 'npx.cmd' : 'npx', '--no-install', 'trellisdb'];
}

module.exports = { isProject, isOfProject, commandFor };
