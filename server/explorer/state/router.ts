// The router: the state of a view is in the hash of the address, so that every view is a link.
//
// Invariant: an address shows the same view to every user. Scroll position, zoom, open folds and texts that
// were not sent are not part of it.
import { batch, signal } from '@preact/signals';

export interface Route {
  page: string;
  /** The part after the name of the page, decoded. */
  name: string;
  params: URLSearchParams;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function readAddress(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [page = '', ...rest] = path.split('/');
  return {
    page: page === '' ? 'overview' : page,
    name: decoded(rest.join('/')),
    params: new URLSearchParams(query),
  };
}

export const route = signal(readAddress());

/**
 * Number of addresses opened by a link, the history or the address bar. A view with typed text starts again
 * with each. Changes that a view writes into the address do not count.
 */
export const visits = signal(0);

addEventListener('hashchange', () => {
  batch(() => {
    route.value = readAddress();
    visits.value++;
  });
});

/** Returns an address such as `#/query/worksOf?person=newton`. */
export function linkTo(page: string, name = '', params: Record<string, string> = {}): string {
  const query = new URLSearchParams(params).toString();
  const path = name === '' ? page : `${page}/${encodeURIComponent(name)}`;
  return `#/${path}${query === '' ? '' : `?${query}`}`;
}

export function goTo(page: string, name = '', params: Record<string, string> = {}): void {
  location.hash = linkTo(page, name, params);
}

/**
 * Changes parameters of the current view without an entry in the history. Undefined removes a parameter.
 * `of` is the view that requests the change; nothing happens if another view is open by now.
 */
export function setParams(changes: Record<string, string | undefined>, of?: Route): void {
  const { page, name, params } = route.value;
  if (of !== undefined && (of.page !== page || of.name !== name)) return;
  const next = new URLSearchParams(params);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(key);
    else next.set(key, value);
  }
  if (next.toString() === params.toString()) return;
  route.value = { page, name, params: next };
  writeAddress();
}

/**
 * Maximum length of an address. Longer ones do not work as links, and some browsers refuse them.
 */
const addressMax = 1_000_000;
/** Some browsers allow 100 changes of the address in 30 s. Typing makes more. */
const againMs = 1_000;
let later = 0;

/** Writes the view into the address. If the browser refuses a change, it is written later. */
function writeAddress(): void {
  clearTimeout(later);
  const address = hereLink();
  if (address.length > addressMax) return;
  try {
    history.replaceState(null, '', address);
  } catch {
    later = window.setTimeout(writeAddress, againMs);
  }
}

/**
 * Returns the address of the current view, even if it was not written yet; `without` leaves out one
 * parameter.
 */
export const hereLink = (without = ''): string => {
  const { page, name, params } = route.value;
  return linkTo(page, name, Object.fromEntries([...params].filter(([key]) => key !== without)));
};
