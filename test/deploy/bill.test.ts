// The third-party parts of the package, as the build reports them. The bill of materials lists exactly the
// installed and bundled packages, with their bytes. The notices have the license of each bundled package.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../support/project.js';

interface Component {
  'bom-ref': string;
  name: string;
  group?: string;
  version: string;
  purl: string;
  scope: string;
  hashes?: { alg: string; content: string }[];
  licenses?: ({ license: { id: string } } | { expression: string })[];
  properties: { name: string; value: string }[];
}
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const lock = JSON.parse(read('package-lock.json')).packages as Record<
  string,
  Record<string, never>
>;
const bill = JSON.parse(read('dist/bin/sbom.cdx.json'));
const components = bill.components as Component[];
const isBundled = ({ properties }: Component): boolean =>
  properties.some(({ name, value }) => name === 'trellisdb:bundled' && value === 'true');
const fullName = ({ group, name }: Component): string => (group ? `${group}/${name}` : name);

describe('the bill of materials', () => {
  test('has the form of CycloneDX 1.6', () => {
    expect([bill.bomFormat, bill.specVersion, bill.version]).toEqual(['CycloneDX', '1.6', 1]);
    expect(bill.serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    const { name, version } = JSON.parse(read('package.json'));
    expect(bill.metadata.component).toMatchObject({ type: 'application', name, version });
    for (const one of components) {
      expect(one).toMatchObject({ type: 'library', 'bom-ref': one.purl });
      expect(one.purl).toBe(`pkg:npm/${fullName(one).replace('@', '%40')}@${one.version}`);
      expect(['required', 'optional']).toContain(one.scope);
      for (const { alg, content } of one.hashes ?? [])
        expect([alg, content]).toEqual(['SHA-512', expect.stringMatching(/^[0-9a-f]{128}$/)]);
      expect(one.licenses?.length, one.purl).toBe(1);
    }
    const refs = components.map((one) => one['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    const all = new Set([...refs, bill.metadata.component['bom-ref']]);
    const told = bill.dependencies as { ref: string; dependsOn: string[] }[];
    expect(new Set(told.map(({ ref }) => ref))).toEqual(all);
    for (const { dependsOn } of told) for (const ref of dependsOn) expect(all).toContain(ref);
  });

  test('names what is installed and bundled, and no tool of ours', () => {
    const names = new Set(components.map(fullName));
    const { dependencies, optionalDependencies, devDependencies } = JSON.parse(
      read('package.json'),
    );
    expect(dependencies).toBe(undefined);
    for (const [alias, wanted] of Object.entries(optionalDependencies as Record<string, string>)) {
      const name = /^npm:(.+)@/.exec(wanted)?.[1] ?? alias;
      expect(names, alias).toContain(name);
    }
    for (const name of [
      'lmdb',
      'piscina',
      'lunr',
      'lunr-languages',
      '@nats-io/jetstream',
      'tweetnacl',
      'preact',
      'sigma',
    ])
      expect(names, name).toContain(name);
    for (const name of Object.keys(devDependencies)) {
      const one = components.find((each) => fullName(each) === name);
      if (one !== undefined) expect(isBundled(one), name).toBe(true);
    }
    for (const name of ['vitest', 'typescript', 'esbuild', '@biomejs/biome', 'playwright-core'])
      expect(names).not.toContain(name);
  });

  test('has the bytes that the lock file has', () => {
    const locked = new Map(
      Object.entries(lock).map(([place, { name, version, integrity }]) => [
        `${name ?? place.replace(/^.*node_modules\//, '')}@${version}`,
        integrity as string | undefined,
      ]),
    );
    for (const one of components) {
      const integrity = locked.get(`${fullName(one)}@${one.version}`);
      const content = one.hashes?.[0]?.content;
      const sum = content && `sha512-${Buffer.from(content, 'hex').toString('base64')}`;
      expect(sum, one.purl).toBe(integrity);
    }
  });

  test('is printed by the script, to the byte', () => {
    const printed = execFileSync(process.execPath, ['.ci/sbom.mjs'], { cwd: root });
    expect(printed.toString()).toBe(read('dist/bin/sbom.cdx.json'));
  });
});

describe('the notices', () => {
  const notices = read('dist/bin/THIRD-PARTY-NOTICES.txt');
  const parts = notices.split(/\n-{80}\n\n/).slice(1);

  test('have the licence of every package that is bundled', () => {
    const heads = parts.map((part) => part.slice(0, part.indexOf(' (')));
    const bundled = components.filter(isBundled).map((one) => `${fullName(one)} ${one.version}`);
    expect(bundled.length).toBeGreaterThan(15);
    expect([...heads].sort()).toEqual([...bundled].sort());
    for (const part of parts) {
      expect(part).toMatch(/copyright|license/i);
      expect(part.length, part.slice(0, 60)).toBeGreaterThan(60);
    }
  });

  test('forget nothing that stands in a bundle', () => {
    // What the bundles say of themselves: each module of a package is named in the map beside them.
    const maps = readdirSync(join(root, 'dist/bin')).filter((name) => name.endsWith('.cjs.map'));
    expect(maps.length).toBeGreaterThan(2);
    for (const name of maps) {
      const { sources } = JSON.parse(read(`dist/bin/${name}`)) as { sources: string[] };
      for (const source of sources) {
        const [, found] =
          /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(source) ?? [];
        if (found !== undefined)
          expect(
            parts.some((part) => part.startsWith(`${found} `)),
            found,
          ).toBe(true);
      }
    }
  });

  test('are shipped, in the package and in the image', () => {
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    for (const file of [
      'dist/bin/THIRD-PARTY-NOTICES.txt',
      'dist/bin/sbom.cdx.json',
      '/SECURITY.md',
    ]) {
      expect(files).toContain(file);
      expect(existsSync(join(root, file))).toBe(true);
    }
    expect(read('server/deploy/Dockerfile')).toContain('COPY --from=build /app/dist/bin dist/bin');
  });
});
