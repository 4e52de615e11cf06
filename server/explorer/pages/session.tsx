// The page Session: calls the session tools as an agent does, and shows each call with its result, its time
// and the traversal after it. Or watches another session of this key.
import { useEffect, useState } from 'preact/hooks';
import { printValue } from '../model/lossless-json.js';
import { millis, whole } from '../model/format-number.js';
import { isItem, titleOf } from '../model/item.js';
import { shortened } from '../model/short-text.js';
import { type Held, countIn, printCall, unpackWalk } from '../model/session.js';
import { walkAsCurl, walkAsMcp, walkAsTypeScript } from '../model/session-code.js';
import { CopyButton } from '../components/copy-code.js';
import { HeldText } from '../components/traversal-summary.js';
import { JsonView } from '../components/json-view.js';
import { HowTypesBegin, NeedsWhole } from '../components/loading-or-error.js';
import { WalkTools } from '../components/session-tools.js';
import { WatchedSession } from '../components/watched-session.js';
import { hasKey } from '../state/key.js';
import { schema } from '../state/program.js';
import { route, setParams, visits } from '../state/router.js';
import { isScoped } from '../state/server.js';
import { type WalkRow, go, leaveWalk, walk, walkedSoFar, walking } from '../state/session.js';

export function Session() {
  return isScoped.value ? <NeedsWhole what="A session" /> : <WholeSession />;
}

function WholeSession() {
  const { params } = route.value;
  const watched = params.get('watch');
  const packed = params.get('walk');
  useEffect(() => {
    // A link runs the session that it contains, unless that session is shown already.
    if (packed === null || watched !== null || packed === walkedSoFar()) return;
    walk.value = undefined;
    void go(unpackWalk(packed));
  }, [visits.value]);
  if (watched !== null) return <WatchedSession key={watched} connection={watched} />;
  if (schema.value?.length === 0) return <NoTypes />;
  const rows = walk.value?.rows ?? [];
  const held = rows.at(-1)?.held ?? [];
  return (
    <div class="walk">
      <div class="tools-of">
        <WalkTools
          held={held}
          schema={schema.value ?? []}
          isBusy={walking.value.isBusy}
          go={(call) => void go([call])}
        />
        <WatchForm />
      </div>
      <section class="path" aria-label="Session steps" aria-live="polite">
        {walking.value.error !== '' && <p class="note bad">{walking.value.error}</p>}
        {rows.length === 0 ? (
          <div class="empty card">
            <h2>Try the session tools</h2>
            <p>
              Start with all elements of a type or with a search, then follow the edges: each button
              is the call that an agent makes. You can copy the session as code.
            </p>
          </div>
        ) : (
          <>
            <Head held={held} />
            <Path rows={rows} />
          </>
        )}
      </section>
    </div>
  );
}

const NoTypes = () => (
  <div class="empty">
    <h2>There are no types to query</h2>
    <HowTypesBegin />
  </div>
);

function Head({ held }: { held: Held }) {
  const { connection, rows } = walk.value!;
  const origin = new URL('.', location.href).href.replace(/\/$/, '');
  const server = { origin, hasKey: hasKey() };
  const calls = rows.filter(({ error }) => error === undefined).map(({ call }) => call);
  return (
    <div class="spread">
      <p class="held">
        traversal: <HeldText held={held} />
      </p>
      <p class="copies">
        <span class="hint">copy</span>
        <CopyButton name="curl" text={() => walkAsCurl(calls, server)} />
        <CopyButton name="TypeScript" text={() => walkAsTypeScript(calls, server)} />
        <CopyButton name="MCP" text={() => walkAsMcp(calls, connection)} />
        <CopyButton name="session id" text={() => connection} />
        <button type="button" class="small" onClick={leaveWalk}>
          new session
        </button>
      </p>
    </div>
  );
}

function Path({ rows }: { rows: WalkRow[] }) {
  const [opened, open] = useState<number | undefined>();
  const shown = opened ?? rows.length - 1;
  const row = rows[shown];
  useEffect(() => open(undefined), [rows.length]);
  return (
    <>
      <div class="scroll">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">call</th>
              <th scope="col" class="first">
                first result
              </th>
              <th scope="col">count</th>
              <th scope="col">time</th>
              <th scope="col">traversal</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((one, at) => (
              <tr key={at} class={at === shown ? 'open' : ''}>
                <th scope="row">
                  <button
                    type="button"
                    class="quiet call mono"
                    aria-pressed={at === shown}
                    onClick={() => open(at)}
                  >
                    {printCall(one.call)}
                  </button>
                </th>
                <td class={one.error === undefined ? 'first' : 'first bad'}>
                  <span class="clip">{one.error ?? firstOf(one.answer)}</span>
                </td>
                <td data-count={countOf(one)}>{countOf(one)}</td>
                <td>{millis(one.ms)}</td>
                <td>
                  <HeldText held={one.held} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {row?.error === undefined && row !== undefined && (
        <div class="card">
          <JsonView value={row.answer} />
        </div>
      )}
    </>
  );
}

/** Returns the length of a list; for a step, which returns its first item, the size of the traversal. */
function countOf({ answer, held, error }: WalkRow): string {
  if (error !== undefined) return '–';
  const count = countIn(answer) ?? held.reduce((sum, one) => sum + one.count, 0);
  return whole(count);
}

/** Maximum length of a result in its row. */
const firstMax = 200;

function firstOf(answer: unknown): string {
  const first: unknown = Array.isArray(answer) ? answer[0] : answer;
  if (first === null || first === undefined) return '–';
  return isItem(first) ? titleOf(first) : shortened(printValue(first), firstMax);
}

function WatchForm() {
  const [id, setId] = useState('');
  const watch = (event: Event): void => {
    event.preventDefault();
    if (id.trim() !== '') setParams({ watch: id.trim(), walk: undefined });
  };
  return (
    <form class="card" onSubmit={watch}>
      <h3>Watch a session</h3>
      <div class="step">
        <input
          type="text"
          placeholder="connection id"
          aria-label="Connection id"
          value={id}
          onInput={(event) => setId(event.currentTarget.value)}
        />
        <button type="submit">watch</button>
      </div>
    </form>
  );
}
