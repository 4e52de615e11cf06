// Whether answers are of the types that the compiler says queries return: against the JSON Schema that is
// printed from them, by a validator that knows nothing of the compiler.
import Schema from 'typebox/schema';
import { type JsonSchema, type Program, type Query, ReplySchemas } from '../../engine/internal.js';

export class ReplyCheck {
  readonly #validators = new Map<string, ReturnType<typeof Schema.Compile>>();

  constructor(private readonly program: Program) {}

  /** Where an answer is not what is said of it; undefined: nowhere. */
  misfit(query: Query, answer: Uint8Array): string | undefined {
    const text = Buffer.from(answer).toString();
    const validator = this.#validatorOf(query);
    const value: unknown = JSON.parse(text);
    if (validator.Check(value)) return undefined;
    const [, faults] = validator.Errors(value);
    return `${query.name}: ${JSON.stringify(faults[0])} in ${text.slice(0, 200)}`;
  }

  #validatorOf(query: Query): ReturnType<typeof Schema.Compile> {
    const known = this.#validators.get(query.name);
    if (known !== undefined) return known;
    const schemas = new ReplySchemas(this.program.schema, { refs: '#/$defs/', wideAsText: false });
    const root: JsonSchema = schemas.reply(query.output);
    const validator = Schema.Compile({ ...root, $defs: Object.fromEntries(schemas.named) });
    this.#validators.set(query.name, validator);
    return validator;
  }
}
