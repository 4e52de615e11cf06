// Lists the properties of an element with names and values. Long values are shortened.
import type { ComponentChildren } from 'preact';
import { printValue } from '../model/lossless-json.js';
import { type Item, propertiesOf } from '../model/item.js';
import { shortened } from '../model/short-text.js';

interface PropertiesProps {
  item: Item;
  /** Maximum number of characters of a value. */
  lengthMax: number;
  class?: string;
  /** Content after the properties. */
  children?: ComponentChildren;
}

export const Properties = ({ item, lengthMax, class: className, children }: PropertiesProps) => (
  <dl class={className}>
    {propertiesOf(item).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          <bdi>{shown(value, lengthMax)}</bdi>
        </dd>
      </div>
    ))}
    {children}
  </dl>
);

function shown(value: unknown, lengthMax: number): string {
  if (value === null || value === undefined) return '–';
  return shortened(printValue(value), lengthMax);
}
