import type { TSchema } from '@sinclair/typebox';

import { isObject } from '../util/json';

type Body = Record<string, unknown>;

export interface KnownPart {
  /** A copy of the request with what the schema knows of it. */
  value: Body;
  /** Paths of what was left out because nothing reads it: `task_config.colour`. */
  ignored: string[];
}

/**
 * What a schema knows of a request. Clients of other versions send properties that this one has no use for, and
 * some send null for whatever was not set: a property that is null counts as not given, at any depth but inside
 * arrays. An object whose schema says something about additional properties keeps them: the schema decides.
 */
export function knownPart(schema: TSchema, body: Body): KnownPart {
  const ignored: string[] = [];
  return { value: known(schema, body, '', ignored), ignored };
}

function known(schema: TSchema | undefined, body: Body, path: string, ignored: string[]): Body {
  const properties = schema?.properties as Record<string, TSchema> | undefined;
  const dropsOthers = properties !== undefined && schema?.additionalProperties === undefined;
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(body)) {
    const inner = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (value === null) {
      continue;
    }
    if (inner === undefined && dropsOthers) {
      ignored.push(path + name);
    } else {
      kept.push([name, isObject(value) ? known(inner, value, `${path}${name}.`, ignored) : value]);
    }
  }
  return Object.fromEntries(kept);
}
