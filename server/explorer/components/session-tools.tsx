// Forms for the tools of a session that apply to its current traversal: start, follow edges, filter, order,
// read.
import { useState } from 'preact/hooks';
import type { Call, Held } from '../model/session.js';
import { type StepChoice, propertiesFrom, stepsFrom } from '../model/session-steps.js';
import type { SchemaType } from '../model/status.js';

interface WalkToolsProps {
  held: Held;
  schema: readonly SchemaType[];
  isBusy: boolean;
  go: (call: Call) => void;
}

export function WalkTools({ held, schema, isBusy, go }: WalkToolsProps) {
  const steps = stepsFrom(held, schema);
  const properties = propertiesFrom(held, schema);
  const key = held.map(({ label }) => label).join();
  return (
    <div class="tools-of card" aria-busy={isBusy}>
      <Begin schema={schema} go={go} />
      {steps.length > 0 && <Steps key={key} steps={steps} go={go} />}
      {properties.length > 0 && (
        <>
          <Keep key={`keep ${key}`} properties={properties} go={go} />
          <Sort key={`sort ${key}`} properties={properties} go={go} />
          <Groups key={`group ${key}`} properties={properties} go={go} />
        </>
      )}
      {held.length > 0 && (
        <fieldset>
          <legend>Read</legend>
          <p class="actions">
            <button type="button" onClick={() => go({ tool: 'next', data: {} })}>
              next
            </button>
            <button type="button" onClick={() => go({ tool: 'collect', data: { drop: false } })}>
              collect
            </button>
            <button type="button" onClick={() => go({ tool: 'reset', data: {} })}>
              reset
            </button>
          </p>
        </fieldset>
      )}
    </div>
  );
}

interface StepProps {
  go: (call: Call) => void;
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly T[];
  pick: (value: T) => void;
}

function Choice<T extends string>({ label, value, options, pick }: ChoiceProps<T>) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => pick(event.currentTarget.value as T)}
    >
      {options.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}

/**
 * Returns the selected option of a list that can load later and change: the first one until the user
 * selects another.
 */
function useChoice(options: readonly string[]): [string, (value: string) => void] {
  const [picked, pick] = useState<string>();
  const isThere = picked !== undefined && options.includes(picked);
  return [isThere ? picked : (options[0] ?? ''), pick];
}

function Begin({ schema, go }: StepProps & { schema: readonly SchemaType[] }) {
  const walkable = schema.filter(({ kind }) => kind !== 'vector').map(({ name }) => name);
  const searchable = schema.filter(({ kind }) => kind !== 'edge').map(({ name }) => name);
  const [type, setType] = useChoice(walkable);
  const [label, setLabel] = useChoice(searchable);
  const [text, setText] = useState('');
  const kindOf = (name: string) => schema.find((one) => one.name === name)?.kind;
  const start = (): void => {
    if (kindOf(type) === 'edge') go({ tool: 'e_from_type', data: { edge_type: type } });
    else go({ tool: 'n_from_type', data: { node_type: type } });
  };
  const search = (event: Event): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    const query = { query: text.trim(), label };
    if (kindOf(label) === 'vector') go({ tool: 'search_vector_text', data: { ...query, k: 10 } });
    else go({ tool: 'search_keyword', data: { ...query, limit: 10 } });
  };
  if (walkable.length === 0) return <p class="hint">There are no types to start with.</p>;
  return (
    <fieldset>
      <legend>Start</legend>
      <div class="step">
        <Choice label="All of" value={type} options={walkable} pick={setType} />
        <button type="button" onClick={start}>
          all of it
        </button>
      </div>
      <form class="step" onSubmit={search}>
        <Choice label="Search in" value={label} options={searchable} pick={setLabel} />
        <input
          type="text"
          placeholder="words"
          aria-label="Words"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit">search</button>
      </form>
    </fieldset>
  );
}

function Steps({ steps, go }: StepProps & { steps: StepChoice[] }) {
  return (
    <fieldset>
      <legend>Step</legend>
      <p class="steps">
        {steps.map(({ name, call }) => (
          <button key={name} type="button" class="small" onClick={() => go(call)}>
            {name}
          </button>
        ))}
      </p>
    </fieldset>
  );
}

const operators = ['==', '!=', '>', '>=', '<', '<='] as const;

function Keep({ properties, go }: StepProps & { properties: string[] }) {
  const [key, setKey] = useChoice(properties);
  const [operator, setOperator] = useState<(typeof operators)[number]>('==');
  const [value, setValue] = useState('');
  const keep = (event: Event): void => {
    event.preventDefault();
    go({ tool: 'filter_items', data: { filter: { properties: [[{ key, operator, value }]] } } });
  };
  return (
    <fieldset>
      <legend>Keep</legend>
      <form class="step" onSubmit={keep}>
        <Choice label="Property" value={key} options={properties} pick={setKey} />
        <Choice label="Operator" value={operator} options={operators} pick={setOperator} />
        <input
          type="text"
          placeholder="value"
          aria-label="Value"
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
        <button type="submit">filter</button>
      </form>
    </fieldset>
  );
}

const orders = ['asc', 'desc'] as const;

function Sort({ properties, go }: StepProps & { properties: string[] }) {
  const [key, setKey] = useChoice(properties);
  const [order, setOrder] = useState<(typeof orders)[number]>('asc');
  return (
    <fieldset>
      <legend>Order</legend>
      <div class="step">
        <Choice label="Order by" value={key} options={properties} pick={setKey} />
        <Choice label="Direction" value={order} options={orders} pick={setOrder} />
        <button
          type="button"
          onClick={() => go({ tool: 'order_by', data: { properties: key, order } })}
        >
          order
        </button>
      </div>
    </fieldset>
  );
}

function Groups({ properties, go }: StepProps & { properties: string[] }) {
  const [key, setKey] = useChoice(properties);
  return (
    <fieldset>
      <legend>Group</legend>
      <div class="step">
        <Choice label="Group by" value={key} options={properties} pick={setKey} />
        <button type="button" onClick={() => go({ tool: 'group_by', data: { properties: [key] } })}>
          count
        </button>
        <button
          type="button"
          onClick={() => go({ tool: 'aggregate_by', data: { properties: [key] } })}
        >
          with items
        </button>
      </div>
    </fieldset>
  );
}
