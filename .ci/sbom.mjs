// Creates the bill of materials of the package as CycloneDX 1.6 (JSON): the packages that are installed with
// it, and those that are bundled into it. `node .ci/sbom.mjs` prints it, and the build writes it next to the
// bundles. Invariant: it depends only on the lock file and on the list of bundled packages. Equal inputs give
// equal bytes.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledPackages } from './notices.mjs';

const purlOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const nameAt = (place, { name }) => name ?? place.replace(/^.*node_modules\//, '');

/** The package that `from` gets when it asks for `name`: the nearest on its way up. */
function resolve(packages, from, name) {
  for (let at = from; ; at = at.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (at === '') return undefined;
  }
}

const wantedBy = ({ dependencies, optionalDependencies }) => {
  return Object.keys({ ...dependencies, ...optionalDependencies });
};

/** Places of the lock file that are installed with the package. */
function installed(packages) {
  const found = new Set();
  const visit = (place) => {
    for (const name of wantedBy(packages[place])) {
      const next = resolve(packages, place, name);
      if (next === undefined || found.has(next)) continue;
      found.add(next);
      visit(next);
    }
  };
  visit('');
  return found;
}

/** A licence of the list of SPDX, or an expression of several. */
const licenceOf = (license) =>
  / (OR|AND|WITH) /.test(license) ? [{ expression: license }] : [{ license: { id: license } }];

function componentOf(place, entry, isBundled) {
  const { version, integrity, license, optional } = entry;
  const purl = purlOf(nameAt(place, entry), version);
  const [, group, name] = /^(?:(@[^/]+)\/)?(.*)$/.exec(nameAt(place, entry));
  const sum = integrity && Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
  return {
    type: 'library',
    'bom-ref': purl,
    ...(group && { group }),
    name,
    version,
    scope: optional && !isBundled ? 'optional' : 'required',
    ...(sum && { hashes: [{ alg: 'SHA-512', content: sum }] }),
    ...(license && { licenses: licenceOf(license) }),
    purl,
    properties: [{ name: 'trellisdb:bundled', value: String(isBundled) }],
  };
}

export function billOfMaterials(root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const bundled = new Set(bundledPackages(root));
  const places = [...new Set([...installed(packages), ...bundled])].sort();
  const components = new Map();
  const dependencies = new Map();
  const refOf = (place) => purlOf(nameAt(place, packages[place]), packages[place].version);
  const needs = (place) =>
    wantedBy(packages[place])
      .map((name) => resolve(packages, place, name))
      .filter((next) => next !== undefined && places.includes(next))
      .map(refOf);
  for (const place of places) {
    const component = componentOf(place, packages[place], bundled.has(place));
    components.set(component.purl, component);
    const known = dependencies.get(component.purl) ?? [];
    dependencies.set(component.purl, [...new Set([...known, ...needs(place)])].sort());
  }
  const { name, version, license } = packages[''];
  const purl = purlOf(name, version);
  dependencies.set(purl, [...new Set([...needs(''), ...[...bundled].map(refOf)])].sort());
  const all = [...components.values()];
  const digest = createHash('sha256')
    .update(JSON.stringify([purl, all]))
    .digest('hex');
  const serial = digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-5$3-8$4-$5');
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${serial}`,
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': purl,
        name,
        version,
        licenses: licenceOf(license),
        purl,
      },
    },
    components: all,
    dependencies: [...dependencies].map(([ref, dependsOn]) => ({ ref, dependsOn })),
  };
}

/** A line for each component and each dependency. */
export const bomText = (root) => {
  const { components, dependencies, ...head } = billOfMaterials(root);
  const lines = (list) => list.map((one) => JSON.stringify(one)).join(',\n');
  const lists = `"components":[\n${lines(components)}\n],\n"dependencies":[\n${lines(dependencies)}\n]`;
  return `${JSON.stringify(head).slice(0, -1)},\n${lists}}\n`;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(bomText(fileURLToPath(new URL('..', import.meta.url))));
}
