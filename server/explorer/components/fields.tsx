// Draws the fields of a form from their types. An error of the server is shown at the field that its path
// names.
import type { Field, Member, Typed } from '../model/value-form.js';
import { VectorSource } from './vector-source.js';

export interface FieldProps {
  field: Field;
  /** JSON Pointer of the value. */
  path: string;
  label: string;
  typed: Typed;
  errors: ReadonlyMap<string, string>;
  change: (typed: Typed) => void;
}

const hints: Record<Field['kind'], string> = {
  text: '',
  id: 'id of an element',
  date: '2026-03-01 or 2026-03-01T12:00:00+02:00',
  number: 'number',
  wide: 'integer',
  integer: 'integer',
  boolean: '',
  json: 'JSON',
  numbers: '[0.1, 0.2, …]',
  list: '',
  object: '',
};

const hintOf = (field: Field): string =>
  field.kind === 'integer'
    ? `${field.min} to ${field.max}`
    : `${hints[field.kind]}${field.optional ? ' (may be empty)' : ''}`;

export function Fields(props: {
  members: Member[];
  path: string;
  typed: { [member: string]: Typed };
  errors: ReadonlyMap<string, string>;
  change: (name: string, typed: Typed) => void;
}) {
  const { members, path, typed, errors, change } = props;
  return (
    <>
      {members.map(({ name, field, about, defaultValue }) => (
        <div class="field" key={name}>
          <FieldInput
            field={field}
            path={`${path}/${name}`}
            label={defaultValue === undefined ? name : `${name} (else ${defaultValue})`}
            typed={typed[name]}
            errors={errors}
            change={(next) => change(name, next)}
          />
          {about && <p class="hint">{about}</p>}
        </div>
      ))}
    </>
  );
}

function FieldInput(props: FieldProps) {
  const { field } = props;
  if (field.kind === 'list') return <ListField {...props} of={field.of} />;
  if (field.kind === 'object') return <ObjectField {...props} members={field.members} />;
  return <SimpleField {...props} />;
}

function FieldError({ path, errors }: { path: string; errors: ReadonlyMap<string, string> }) {
  const text = errors.get(path);
  return text === undefined ? null : (
    <p class="fault" id={`fault${path}`} role="alert">
      {text}
    </p>
  );
}

function SimpleField(props: FieldProps) {
  const { field, path, label, typed, errors, change } = props;
  const text = typeof typed === 'string' ? typed : '';
  const isLong = field.kind === 'numbers' || field.kind === 'json' || text.length > 80;
  const shared = {
    id: `field${path}`,
    value: text,
    placeholder: hintOf(field),
    'aria-invalid': errors.has(path),
    'aria-describedby': errors.has(path) ? `fault${path}` : undefined,
    spellcheck: false,
    autocomplete: 'off' as const,
  };
  return (
    <>
      <label for={shared.id}>
        {label} <small>{kindName(field)}</small>
      </label>
      {field.kind === 'boolean' ? (
        <select {...shared} onChange={(event) => change(event.currentTarget.value)}>
          <option value="">{field.optional ? 'unset' : 'choose'}</option>
          <option>true</option>
          <option>false</option>
        </select>
      ) : isLong ? (
        <textarea {...shared} rows={3} onInput={(event) => change(event.currentTarget.value)} />
      ) : (
        <div class="beside">
          <input
            {...shared}
            type="text"
            inputMode={field.kind === 'integer' || field.kind === 'wide' ? 'numeric' : 'text'}
            onInput={(event) => change(event.currentTarget.value)}
          />
          {field.kind === 'date' && <DatePicker label={label} pick={change} />}
        </div>
      )}
      {field.kind === 'numbers' && <VectorSource label={label} pick={change} />}
      <FieldError path={path} errors={errors} />
    </>
  );
}

/** Writes the chosen time with the offset of the local time zone. */
function DatePicker({ label, pick }: { label: string; pick: (text: string) => void }) {
  return (
    <input
      class="picker"
      type="datetime-local"
      step={1}
      aria-label={`choose ${label}`}
      onChange={(event) => {
        const { value } = event.currentTarget;
        if (value !== '') pick(`${value.length === 16 ? `${value}:00` : value}${offsetOf(value)}`);
      }}
    />
  );
}

function offsetOf(local: string): string {
  const minutes = -new Date(local).getTimezoneOffset();
  const digits = (value: number): string => String(value).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${digits(Math.floor(size / 60))}:${digits(size % 60)}`;
}

function kindName(field: Field): string {
  const names: Partial<Record<Field['kind'], string>> = {
    text: 'text',
    wide: 'integer',
    numbers: 'list of numbers',
    boolean: 'true or false',
  };
  return names[field.kind] ?? field.kind;
}

function ListField(props: FieldProps & { of: Field }) {
  const { of, path, label, typed, errors, change } = props;
  const items = Array.isArray(typed) ? typed : [];
  const put = (at: number, next: Typed): void => change(items.with(at, next));
  return (
    <fieldset>
      <legend>
        {label} <small>list</small>
      </legend>
      {items.map((item, at) => (
        <div class="entry" key={at}>
          <FieldInput
            field={of}
            path={`${path}/${at}`}
            label={String(at)}
            typed={item}
            errors={errors}
            change={(next) => put(at, next)}
          />
          <button type="button" class="small" onClick={() => change(items.toSpliced(at, 1))}>
            remove
          </button>
        </div>
      ))}
      <button
        type="button"
        class="small"
        onClick={() => change([...items, of.kind === 'object' ? {} : ''])}
      >
        add one
      </button>
      <FieldError path={path} errors={errors} />
    </fieldset>
  );
}

function ObjectField(props: FieldProps & { members: Member[] }) {
  const { members, path, label, typed, errors, change } = props;
  const values = typeof typed === 'object' && !Array.isArray(typed) ? typed : {};
  return (
    <fieldset>
      <legend>{label}</legend>
      <Fields
        members={members}
        path={path}
        typed={values}
        errors={errors}
        change={(name, next) => change({ ...values, [name]: next })}
      />
      <FieldError path={path} errors={errors} />
    </fieldset>
  );
}
