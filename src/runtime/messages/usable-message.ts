import { types } from 'node:util';

import { reasonOf } from '../../util/reason';
import { isThenable } from '../../util/thenable';
import { ServiceError } from '../../wire/service-error';
import type { Message } from '../node-red';

/**
 * The message in a form that a node can change: itself, or a shallow copy if its properties cannot be set (frozen, or
 * with accessors).
 * @throws ServiceError `validation.failed` for a property that throws when it is read, and for a message that is a
 * promise: awaiting it would call its `then`
 */
export function usableMessage(msg: Message): Message {
  const usable = isOpen(msg) ? msg : plainCopy(msg);
  if (isThenable(usable)) {
    throw new ServiceError(
      'validation.failed',
      'The message is a promise (it has a function named "then"): await it before it is sent.',
    );
  }
  return usable;
}

function isOpen(msg: Message): boolean {
  if (!Object.isExtensible(msg)) {
    return false;
  }
  for (const { writable, configurable } of Object.values(Object.getOwnPropertyDescriptors(msg))) {
    if (writable !== true || configurable !== true) {
      return false;
    }
  }
  return true;
}

function plainCopy(msg: Message): Message {
  const read = (name: string): unknown => {
    try {
      return msg[name];
    } catch (error) {
      throw new ServiceError('validation.failed', `msg.${name} cannot be read: ${reasonOf(error)}`);
    }
  };
  return Object.fromEntries(Object.keys(msg).map((name) => [name, read(name)])) as Message;
}

/** How far a message is searched: what throws is near its beginning, or a property that many rows have. */
const MAX_LOOKS = 20_000;
const MAX_DEPTH = 5;

/**
 * Which part of a message throws when it is read, as a sentence: `msg.payload.x cannot be read: boom`. That is a getter
 * or a Proxy. Undefined if no part does, of those looked at. Never throws.
 */
export function unreadablePart(msg: object): string | undefined {
  let looks = 0;
  const seen = new Set<object>();

  function partOf(value: unknown, place: string, depth: number): string | undefined {
    if (typeof value !== 'object' || value === null || seen.has(value) || ArrayBuffer.isView(value)) {
      return undefined;
    }
    seen.add(value);
    const own = reading(place, () => namesOf(value));
    if ('problem' in own || depth === MAX_DEPTH) {
      return 'problem' in own ? own.problem : undefined;
    }
    for (const name of own.result) {
      if (++looks > MAX_LOOKS) {
        return undefined;
      }
      const at = Array.isArray(value) ? `${place}[${name}]` : `${place}.${name}`;
      const part = reading(at, () => (value as Record<string, unknown>)[name]);
      const problem = 'problem' in part ? part.problem : partOf(part.result, at, depth + 1);
      if (problem !== undefined) {
        return problem;
      }
    }
    return undefined;
  }

  return partOf(msg, 'msg', 0);
}

function reading<Result>(place: string, read: () => Result): { result: Result } | { problem: string } {
  try {
    return { result: read() };
  } catch (error) {
    return { problem: `${place} cannot be read: ${reasonOf(error)}` };
  }
}

/** A Proxy may refuse to be read at any name, so one is tried. */
function namesOf(value: object): string[] {
  if (types.isProxy(value)) {
    Reflect.get(value, 'id');
  }
  return Array.isArray(value)
    ? Array.from({ length: Math.min(value.length, MAX_LOOKS) }, (_, index) => `${index}`)
    : Object.keys(value);
}
