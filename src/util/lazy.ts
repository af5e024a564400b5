/**
 * A value made on first use. Node-RED loads every node of the package at its start, so modules that take tens of
 * milliseconds to load wait until a message needs them:
 *
 *     const load = createRequire(__filename);
 *     const undici = lazy(() => load('undici') as typeof import('undici'));
 */
export function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
