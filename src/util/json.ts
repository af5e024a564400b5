/**
 * A deep copy of a JSON-like value, quicker than structuredClone for the few values of metadata or of a card. What is
 * neither an array nor an object is taken over.
 */
export function cloneJson<Value>(value: Value): Value {
  return clone(value) as Value;
}

function clone(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(clone);
  }
  if (typeof value === 'object' && value !== null) {
    const copy: Record<string, unknown> = { ...value };
    for (const key of Object.keys(copy)) {
      const inner = copy[key];
      if (typeof inner === 'object' && inner !== null && key !== '__proto__') {
        copy[key] = clone(inner);
      }
    }
    return copy;
  }
  return value;
}

/** An object that is neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; undefined where it is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a JSON-like value is nested deeper than that: what walks it by calling itself would run out of stack. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  if (levels === 0) {
    return true;
  }
  for (const inner of Object.values(value)) {
    if (isDeeper(inner, levels - 1)) {
      return true;
    }
  }
  return false;
}
