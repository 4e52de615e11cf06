// Loads the style sheet of all pages except the first, before such a page is drawn.
let coming: Promise<void> | undefined;

function fetchStyle(): Promise<void> {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL(PAGES_STYLE, import.meta.url).href;
  const done = new Promise<void>((resolve, reject) => {
    link.onload = () => resolve();
    link.onerror = (event) => {
      link.remove();
      // The next page loads it again.
      coming = undefined;
      reject(event);
    };
  });
  document.head.append(link);
  return done;
}

/** Returns a page by its loader, with its style sheet. */
export const withStyle =
  <T>(load: () => Promise<T>) =>
  async (): Promise<T> => {
    coming ??= fetchStyle();
    const [part] = await Promise.all([load(), coming]);
    return part;
  };
