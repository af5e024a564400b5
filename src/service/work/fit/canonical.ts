import { isObject } from '../../../util/values';

/** JSON whose text is the same for equal values: properties sorted by name, undefined ones left out. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    // Lists of a million row numbers are written at once.
    return value.some(isNested)
      ? `[${value.map((item) => canonical(item ?? null)).join(',')}]`
      : JSON.stringify(value);
  }
  if (!isObject(value)) {
    return JSON.stringify(value);
  }
  const parts = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${parts.join(',')}}`;
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
