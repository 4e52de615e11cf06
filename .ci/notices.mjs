// Collects the notices of third-party code in the bundles: which packages a bundle contains, by the report of
// the bundler, and their licenses from the packages. The build writes them next to the bundles, and they are
// part of the package.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Parts of its standard library are compiled into the WebAssembly module. */
const always = ['node_modules/assemblyscript'];

/** The folders of packages, from the root, that a bundle was made of. */
export function packagesOf(metafiles) {
  const folders = new Set(always);
  for (const { inputs } of metafiles) {
    for (const path of Object.keys(inputs)) {
      const [, folder] =
        /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(
          path.replace(/^.*?(?=node_modules\/)/, ''),
        ) ?? [];
      if (folder !== undefined) folders.add(folder);
    }
  }
  return [...folders].sort();
}

/** Adds what one step of the build has bundled to what the others have. */
export function noteBundled(root, step, metafiles) {
  const path = join(root, 'dist/.bundled', `${step}.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(packagesOf(metafiles)));
}

/** All packages that are bundled somewhere. */
export function bundledPackages(root) {
  const folder = join(root, 'dist/.bundled');
  const lists = readdirSync(folder).map((name) =>
    JSON.parse(readFileSync(join(folder, name), 'utf8')),
  );
  return [...new Set(lists.flat())].sort();
}

const isLicence = (name) => /^(licen[cs]e|copying|notice)/i.test(name);

/** What one package says of itself. */
function noticeOf(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { name, version, license, author } = manifest;
  const files = readdirSync(folder).filter(isLicence).sort();
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const who = typeof author === 'object' ? author.name : author;
  if (texts.length === 0) texts.push(`License: ${license}${who ? `\nCopyright: ${who}` : ''}`);
  return { head: `${name} ${version} (${license})`, texts };
}

/** The text of the file; a licence that several have word for word stands there once, and is named by the others. */
export function noticesText(root) {
  const folders = bundledPackages(root).map((folder) => join(root, folder));
  const rule = `\n${'-'.repeat(80)}\n\n`;
  const title = 'TrellisDB has parts of these packages in its bundles. Their licences:\n';
  const first = new Map();
  const parts = folders.map(noticeOf).map(({ head, texts }) => {
    const told = texts.map((text) => {
      const words = text.replace(/\s+/g, ' ');
      if (first.has(words)) return `License: word for word that of ${first.get(words)}, above.`;
      first.set(words, head);
      return text;
    });
    return `${head}\n\n${told.join('\n\n')}\n`;
  });
  return [title, ...parts].join(rule);
}
