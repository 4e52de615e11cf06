// The page Source: the files of the project as the server reads them, with colors, diagnostics, and links
// from names to their declarations. Files are read-only here.
import { useEffect } from 'preact/hooks';
import { declarationsIn } from '../model/source-text.js';
import { useAnswer } from '../components/use-request.js';
import { SourceLines } from '../components/source-lines.js';
import { NeedsAdmin, Waiting } from '../components/loading-or-error.js';
import { contract, queryNamed, schema } from '../state/program.js';
import { linkTo, route } from '../state/router.js';
import { isAdmin, status } from '../state/server.js';
import { type SourceFile, type Sources, readSources } from '../state/sources.js';

export function Source() {
  return isAdmin.value ? <WholeSource /> : <NeedsAdmin what="Source" />;
}

function WholeSource() {
  const refused = status.value?.sources;
  // Requested again whenever the server has accepted or refused sources.
  const changes = [status.value?.reloads, refused?.reason, refused?.errors];
  const { value: sources, error } = useAnswer(readSources, changes);
  if (sources === undefined) return <Waiting error={error} />;
  const files = sources.refused?.files.length ? sources.refused.files : sources.used;
  return <Files files={files} refusal={sources.refused} />;
}

function Files({ files, refusal }: { files: SourceFile[]; refusal: Sources['refused'] }) {
  const { name, params } = route.value;
  const faulty = files.find(({ diagnostics }) =>
    diagnostics.some(({ severity }) => severity === 'error'),
  );
  const types = files.find(({ text }) => /^\s*[NEV]::\w/m.test(text));
  const file = files.find(({ path }) => path === name) ?? faulty ?? types ?? files[0];
  const isMissing = name !== '' && file?.path !== name;
  const line = params.get('line') ?? '';
  useEffect(() => {
    const target = document.getElementById(`line-${line}`);
    target?.scrollIntoView({ block: 'center' });
  }, [file?.path, line]);
  if (file === undefined) {
    return (
      <div class="empty">
        <h2>There are no sources</h2>
        <p>
          Save a file <code>schema.hx</code> in the project, and it appears here.
        </p>
      </div>
    );
  }
  const costs = new Map(contract.value?.queries.map((query) => [query.name, query.cost]));
  const declared = declarationsIn(files);
  const linkOf = (word: string): string | undefined => {
    const declaration = declared.get(word);
    return declaration && linkTo('source', declaration.path, { line: String(declaration.line) });
  };
  return (
    <div class="columns">
      <FileList files={files} file={file} />
      <section class="source" aria-label={file.path}>
        {isMissing && <p class="note amber">The file {name} no longer exists.</p>}
        {refusal && (
          <p class="note amber" role="alert">
            {refusal.reason}: the server refused the sources below and still serves the previous
            version.
          </p>
        )}
        <SourceLines
          text={file.text}
          types={new Set(schema.value?.map((type) => type.name))}
          diagnostics={file.diagnostics}
          costs={costs}
          linkOf={linkOf}
          here={Number(line)}
        />
      </section>
    </div>
  );
}

function FileList({ files, file }: { files: SourceFile[]; file: SourceFile }) {
  const queries = [...declarationsIn([file]).keys()].flatMap((name) => queryNamed(name) ?? []);
  return (
    <aside class="list" aria-label="Files">
      <ul>
        {files.map(({ path, diagnostics }) => (
          <li key={path}>
            <a href={linkTo('source', path)} aria-current={path === file.path ? 'true' : undefined}>
              {path}
              {diagnostics.length > 0 && <span class="badge">{diagnostics.length}</span>}
            </a>
          </li>
        ))}
      </ul>
      {queries.length > 0 && <h3 class="wide-only">queries of this file</h3>}
      <ul class="wide-only">
        {queries.map(({ name, cost }) => (
          <li key={name}>
            <a href={linkTo('query', name)}>
              {name}
              <small>{cost}</small>
            </a>
          </li>
        ))}
      </ul>
    </aside>
  );
}
