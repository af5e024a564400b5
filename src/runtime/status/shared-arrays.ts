import { types } from 'node:util';

import { isTypedArray } from '../../util/realms';

/** Typed arrays of fewer values are copied in a millisecond or two. */
const MIN_LENGTH = 1_000;
/** Values of a message that are looked at. */
const MAX_LOOKS = 20_000;
/** Objects that Node-RED does not copy either. */
const NOT_COPIED = new Set(['req', 'res']);

/**
 * Does work in which Node-RED may copy a message: for Catch and Complete nodes, and for the second and each further node
 * at an output. Large typed arrays in it are shared with the copies, as the bytes of a Buffer always are. Node-RED would
 * copy them value by value, each with its index as a name: a million values hold the event loop for more than a second.
 *
 * @param message a message, or messages as `send` takes them
 */
export function withSharedArrays<T>(message: unknown, work: () => T): T {
  // The function that copies (lodash.clonedeep) hands on as it is what has a tag that it does not know.
  const tagged = largeArrays(message).filter(
    (array) =>
      !Object.hasOwn(array, Symbol.toStringTag) &&
      Reflect.defineProperty(array, Symbol.toStringTag, { value: 'SharedArray', configurable: true }),
  );
  try {
    return work();
  } finally {
    for (const array of tagged) {
      Reflect.deleteProperty(array, Symbol.toStringTag);
    }
  }
}

/** The large typed arrays of a message, those that are near its beginning or not deep in it first. Never throws. */
function largeArrays(message: unknown): NodeJS.TypedArray[] {
  const found: NodeJS.TypedArray[] = [];
  const objects: unknown[] = [[message]];
  const seen = new Set<unknown>();
  let looks = 0;
  try {
    for (let at = 0; at < objects.length && looks < MAX_LOOKS; at++) {
      for (const part of partsOf(objects[at] as object)) {
        if (isTypedArray(part)) {
          if (part.length >= MIN_LENGTH && !Buffer.isBuffer(part)) {
            found.push(part);
          }
        } else if (typeof part === 'object' && part !== null && !seen.has(part)) {
          seen.add(part);
          objects.push(part);
        }
        if (++looks === MAX_LOOKS) {
          break;
        }
      }
    }
  } catch {
    // A getter or a Proxy throws: what was found until then has to do.
  }
  return found;
}

function* partsOf(value: object): Iterable<unknown> {
  if (Array.isArray(value)) {
    yield* value;
  } else if (types.isMap(value) || types.isSet(value)) {
    yield* value.values();
  } else {
    for (const name of Object.keys(value)) {
      if (!NOT_COPIED.has(name)) {
        yield (value as Record<string, unknown>)[name];
      }
    }
  }
}
