import { isObject } from './envelope';

type Body = Record<string, unknown>;

/** An object without the properties that are null, at any depth: a limit of null binds no more than a missing one. */
export function withoutNulls(body: Body): Body {
  return Object.fromEntries(
    Object.entries(body)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, isObject(value) ? withoutNulls(value) : value]),
  );
}

/** An object without those of the named properties that are null. */
export function withoutNull(body: Body, names: readonly string[]): Body {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null || !names.includes(name)),
  );
}
