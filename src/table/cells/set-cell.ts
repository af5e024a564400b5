import type { Row } from './types';

/** Sets an own property; plain assignment to `__proto__` would change the object's prototype instead. */
export function setCell(row: Row, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(row, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    row[name] = value;
  }
}
