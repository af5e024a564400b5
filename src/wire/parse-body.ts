import type { TSchema } from '@sinclair/typebox';

import { isObject } from '../util/json';
import { check, type Fault } from './check';
import { type Dialect, renamed, wireNames } from './dialect';
import { knownPart } from './known-part';

/** A request; `ignored` has the paths of properties that had no effect, in the names of the wire. */
export type Parsed<T> = { ok: true; value: T; ignored: string[] } | ({ ok: false } & Fault);

export type Names = Pick<Dialect, 'apiName'>;
export type Body = Record<string, unknown>;

/**
 * A body by its schema. A property that is null counts as not given; one that is unknown is ignored and listed,
 * unless the schema refuses it.
 *
 * @param dialect whose names the body has; the result has the package's own
 */
export function parseBody<T>(schema: TSchema, body: unknown, dialect?: Names): Parsed<T> {
  if (!isObject(body)) {
    return notAnObject();
  }
  const names = dialect === undefined ? [] : wireNames(dialect).filter(([wire, own]) => wire !== own);
  const { body: sent, strays } = withoutStrays(body, names);
  const own = renamed(sent, names);
  if (isObject(own.task_config)) {
    own.task_config = renamed(own.task_config, names);
  }
  const onWire = (path: string): string =>
    names.reduce((text, [wire, inner]) => text.replace(inner, wire), path);
  const { value, ignored } = knownPart(schema, own);
  const fault = check(schema, value);
  return fault === undefined
    ? { ok: true, value: value as T, ignored: [...strays, ...ignored.map(onWire)] }
    : { ok: false, path: onWire(fault.path), message: fault.message };
}

/** A body without the package's own names, which are as unknown as any where the dialect has others. */
function withoutStrays(body: Body, names: [wire: string, own: string][]): { body: Body; strays: string[] } {
  const isStray = (name: string): boolean => names.some(([, own]) => own === name);
  const strays: string[] = [];
  const without = (object: Body, path: string): Body => {
    strays.push(
      ...Object.keys(object)
        .filter(isStray)
        .map((name) => path + name),
    );
    return Object.fromEntries(Object.entries(object).filter(([name]) => !isStray(name)));
  };
  const rest = without(body, '');
  if (isObject(rest.task_config)) {
    rest.task_config = without(rest.task_config, 'task_config.');
  }
  return { body: rest, strays };
}

export function notAnObject(): { ok: false } & Fault {
  return { ok: false, path: 'body', message: 'must be a JSON object' };
}
