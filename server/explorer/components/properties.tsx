// Lists the properties of an element with names and values. Long values are shortened.
import type { ComponentChildren } from 'preact';
import { printValue } from '../model/lossless-json.js';
import { type Item, propertiesOf } from '../model/item.js';
import { shortened } from '../model/short-text.js';

interface PropertiesProps {
  item: Item;
  /** Maximum number of characters of a value. */
  most: number;
  class?: string;
  /** Content after the properties. */
  children?: ComponentChildren;
}

export const Properties = ({ item, most, class: look, children }: PropertiesProps) => (
  <dl class={look}>
    {propertiesOf(item).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          <bdi>{shown(value, most)}</bdi>
        </dd>
      </div>
    ))}
    {children}
  </dl>
);

function shown(value: unknown, most: number): string {
  if (value === null || value === undefined) return '–';
  return shortened(printValue(value), most);
}
