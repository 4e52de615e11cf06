// Shows the source of one query from the files in use.
import { textOfQuery } from '../model/source-text.js';
import { readSources } from '../state/sources.js';
import { linkTo } from '../state/router.js';
import { useAnswer } from './use-request.js';
import { SourceLines } from './source-lines.js';

export function QueryText({ name }: { name: string }) {
  const { value: sources } = useAnswer(readSources, [name]);
  const found = sources && textOfQuery(sources.used, name);
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
