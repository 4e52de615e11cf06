// Serves the bundled files of the explorer, and its page. Names are read at the start, contents with the
// first page, so that a server without explorer users pays nothing. Invariants: a request never names a file;
// only names in the table are found. A page that was opened stays complete until the server ends, even if
// another version of the program replaces its files.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Exchange } from '../../http/exchange.js';
import { type HeaderList, notModifiedStatus, okStatus } from '../../http/header-list.js';
import type { Reply } from '../../pipeline/router.js';

/** Folders next to the program, whether it is bundled or only compiled. */
const folders = ['../explorer/', '../../../explorer/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

interface Asset {
  headers: HeaderList;
  etag: string;
  body: Record<'br' | 'gzip' | 'identity', Uint8Array>;
}

export class ExplorerAssets {
  readonly #loaded = new Map<string, Asset>();
  /** Names of the served files: `main.<hash>.js`. */
  readonly names: readonly string[];
  readonly #html: string | undefined;

  constructor(
    private readonly folder = folders.find((path) => existsSync(join(path, 'index.html'))),
  ) {
    const files = folder === undefined ? [] : readdirSync(folder);
    this.names = files.filter((name) => /^[a-z-]+\.[A-Z0-9]{8}\.(js|css|svg)$/.test(name));
    this.#html = folder && readFileSync(join(folder, 'index.html'), 'utf8');
  }

  /** Returns one of the named files, in the best encoding that the client accepts. */
  answer(name: string, exchange: Exchange): Reply {
    const asset = this.#loaded.get(name) ?? this.#load(name);
    const { headers, etag, body } = asset;
    if (exchange.ifNoneMatch === etag) {
      return { status: notModifiedStatus, headers: headers.slice(1), body: '' };
    }
    const coding = codingFor(exchange.acceptEncoding);
    if (coding === 'identity') return { status: okStatus, headers, body: body.identity };
    const coded: HeaderList = [...headers, ['Content-Encoding', coding]];
    return { status: okStatus, headers: coded, body: body[coding] };
  }

  #load(name: string): Asset {
    const path = join(this.folder!, name);
    const etag = `"${name.split('.')[1]}"`;
    const asset: Asset = {
      etag,
      headers: [
        ['Content-Type', types[name.split('.').at(-1)!]!],
        ['Cache-Control', 'public, max-age=31536000, immutable'],
        ['ETag', etag],
        ['Vary', 'Accept-Encoding'],
        ['X-Content-Type-Options', 'nosniff'],
      ],
      body: {
        identity: readFileSync(path),
        gzip: readFileSync(`${path}.gz`),
        br: readFileSync(`${path}.br`),
      },
    };
    this.#loaded.set(name, asset);
    return asset;
  }

  /** Returns the page, or undefined if the package was built without it. */
  page(): Reply | undefined {
    if (this.#html === undefined) return undefined;
    const nonce = randomBytes(16).toString('base64');
    const html = this.#isWhole() ? this.#html.replace('%NONCE%', nonce) : replaced;
    return { status: okStatus, headers: [...pageHeaders, policy(nonce)], body: html };
  }

  /** Returns true if all files of the page can be loaded. */
  #isWhole(): boolean {
    try {
      for (const name of this.names) if (!this.#loaded.has(name)) this.#load(name);
      return true;
    } catch {
      return false;
    }
  }
}

/** Page for a server whose program files were replaced on disk. */
const replaced = `<!doctype html><title>TrellisDB</title>
<p>Another version of TrellisDB took the place of this server's files.
Start it again to see its pages.</p>
`;

/** Returns true if this Accept header comes from a browser that opens a page. */
export const wantsPage = (accept: string): boolean => /\btext\/html\b/i.test(accept);

const pageHeaders: HeaderList = [
  ['Content-Type', 'text/html; charset=utf-8'],
  ['Cache-Control', 'no-store'],
  ['Vary', 'Accept'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
];

const policy = (nonce: string): readonly [string, string] => [
  'Content-Security-Policy',
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
];

/** Returns the first supported encoding that the header names with a quality above 0. */
function codingFor(accepted: string): 'br' | 'gzip' | 'identity' {
  const taken = new Set<string>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [name, ...parameters] = part.split(';').map((text) => text.trim());
    const isRefused = parameters.some((one) => /^q=0(\.0*)?$/.test(one));
    if (!isRefused) taken.add(name!);
  }
  return (['br', 'gzip'] as const).find((one) => taken.has(one)) ?? 'identity';
}
