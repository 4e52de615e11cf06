// Random selections by lists of values and of several types, for the oracle's queries.
import type { Random } from '../../random.js';
import type { Stream } from '../oracle-extension.js';
import { propertyTypes, valueTexts, type WorldType } from '../oracle-schema.js';

interface Writer {
  readonly random: Random;
  readonly types: readonly WorldType[];
  parameter(type: string, element?: string): string;
}

export function batchSource(writer: Writer, type: WorldType): Stream {
  const { random } = writer;
  const { kind, name, properties } = type;
  const unique = properties.filter(({ index }) => index === 'UNIQUE INDEX ');
  const scalars = properties.filter((property) => !property.type.startsWith('['));
  const source = (inner: string, types: readonly string[] = [name]): Stream => ({
    text: `${kind}<${types.join(', ')}>(${inner})`,
    types,
    many: true,
  });
  const listOf = (of: string) =>
    of === 'ID' || random.chance(0.4)
      ? writer.parameter(`[${of}]`)
      : `[${random.some(valueTexts[of]!, 0.5).join(', ')}]`;
  const others = writer.types.filter((each) => each.kind === kind && each.name !== name);
  const same = scalars.filter((property) =>
    others.some((other) => other.properties.some((each) => each.name === property.name)),
  );
  const nulls = random.chance(0.3) ? ', nulls: true' : '';
  if (same.length > 0 && random.chance(0.4)) {
    const property = random.pick(same).name;
    const value = writer.parameter(propertyTypes[property]!);
    return source(`{${property}: ${value}}`, [name, random.pick(others).name]);
  }
  if (unique.length > 0 && random.chance(0.4)) {
    const property = random.pick(unique);
    if (!property.type.startsWith('['))
      return source(`{${property.name}: ${listOf(property.type)}}${nulls}`);
  }
  if (scalars.length > 0 && random.chance(0.5)) {
    const property = random.pick(scalars);
    return source(`{${property.name}: ${listOf(property.type)}}`);
  }
  return source(`{id: ${writer.parameter('[ID]')}}${nulls}`);
}
