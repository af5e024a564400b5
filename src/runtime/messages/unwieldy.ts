import { types } from 'node:util';

import type { ErrorCode } from '../../wire/service-error';
import { table } from '../lazy';
import type { Message } from '../node-red';

/** Error codes of tables that are too large or malformed, or that nobody has looked at yet. */
const OF_TABLES: ReadonlySet<ErrorCode> = new Set(['limit.exceeded', 'table.invalid', 'validation.failed']);

/** How many rows are checked for very many properties. */
const LOOKS = 1000;
/** Values of a Map or a Set that are copied in some milliseconds. */
const LARGE = 10_000;

/**
 * Replaces by a few words what would take long to copy: Node-RED copies a failed message for each Catch node, a sparse
 * array index by index and an object name by name. 200 million empty places hold its event loop for half a minute, a
 * million names for ten seconds. The values themselves are not touched. Never throws.
 */
export function dropUnwieldy(msg: Message, code: ErrorCode): void {
  if (!OF_TABLES.has(code)) {
    return;
  }
  try {
    for (const name of Object.keys(msg)) {
      const what = unwieldiness(msg[name]);
      if (what !== undefined) {
        msg[name] = `(${what}, left out of the message since Node-RED would take long to copy it)`;
      }
    }
  } catch {
    // A frozen message, a getter or a Proxy: it goes on as it is.
  }
}

function unwieldiness(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) {
    return undefined;
  }
  const endless = table().maybeEndless();
  const whole = ofOne(value, endless);
  if (whole !== undefined) {
    return whole;
  }
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const [index, part] of parts.entries()) {
    const look = endless && index < LOOKS;
    const found = typeof part === 'object' && part !== null ? ofOne(part, look) : undefined;
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

function ofOne(value: object, endless: boolean): string | undefined {
  if (ArrayBuffer.isView(value)) {
    return undefined;
  }
  if (table().isTooWide(value, endless)) {
    return 'an object of very many properties';
  }
  if ((types.isMap(value) || types.isSet(value)) && value.size > LARGE) {
    return `a ${types.isMap(value) ? 'Map' : 'Set'} of ${value.size} values`;
  }
  return Array.isArray(value) && table().isSparse(value)
    ? `a sparse array of ${value.length} places`
    : undefined;
}
