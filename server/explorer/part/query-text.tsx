// The source of one query, cut out of the files in use.
import { useEffect, useState } from 'preact/hooks';
import { textOfQuery } from '../model/source-text.js';
import { readSources } from '../state/sources.js';
import { linkTo } from '../state/router.js';
import { SourceLines } from './source-lines.js';

export function QueryText({ name }: { name: string }) {
  const [found, setFound] = useState<{ path: string; line: number; text: string } | undefined>();
  useEffect(() => {
    let isCurrent = true;
    readSources()
      .then(({ used }) => isCurrent && setFound(textOfQuery(used, name)))
      .catch(() => undefined);
    return () => {
      isCurrent = false;
    };
  }, [name]);
  if (found === undefined) return null;
  const { path, line, text } = found;
  return (
    <figure class="query-text">
      <SourceLines text={text} first={line} />
      <figcaption>
        <a href={linkTo('source', path, { line: String(line) })}>
          {path}:{line}
        </a>
      </figcaption>
    </figure>
  );
}
