import type { ModelLimits } from '../wire/types';
import { isObject } from './envelope';

/** A limit of null binds no more than one that is missing. */
export function withoutNulls(body: Record<string, unknown>): ModelLimits {
  return Object.fromEntries(
    Object.entries(body)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, isObject(value) ? withoutNulls(value) : value]),
  );
}
