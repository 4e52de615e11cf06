// Formats numbers for people: short, aligned, with the same units everywhere. Pure.

const grouped = new Intl.NumberFormat('en');

export const whole = (value: number): string => grouped.format(value);

export function bytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let at = 0;
  for (; value >= 1000 && at < units.length - 1; at++) value /= 1000;
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}

/** Formats microseconds; a dash for undefined. */
export function micros(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value < 1000) return `${Math.round(value)} µs`;
  if (value < 1e6) return `${(value / 1000).toFixed(value < 10_000 ? 2 : 1)} ms`;
  return `${(value / 1e6).toFixed(2)} s`;
}

export const millis = (value: number): string => micros(value * 1000);

export function rate(value: number): string {
  if (value === 0) return '0';
  return value < 10 ? value.toFixed(1) : whole(Math.round(value));
}

export function since(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min` : `${seconds} s`;
}

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${whole(count)} ${count === 1 ? one : many}`;
