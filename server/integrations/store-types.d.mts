// Types that all stores share. Written by hand, as the types of the stores.

export interface Caller {
  call<T = unknown>(name: string, params?: object, options?: object): Promise<T>;
}
export type PropertyType = 'String' | 'Boolean' | 'I32' | 'I64' | 'U32' | 'F64' | 'Date' | 'ID';
type Value = string | number | boolean | bigint;
export type Filter = {
  [name: string]: Value | { [operator: string]: Value | Value[] } | Filter | Filter[];
};
