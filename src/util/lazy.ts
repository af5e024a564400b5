import { yieldToEventLoop } from './concurrency';

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

const ABSENT = ['MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'];

/**
 * Loads modules one after the other, with a turn of the event loop after each: parts of a large package first, then
 * the package, which finds them loaded. A part that is not there, as in another version of the package, is passed
 * over: the package itself then takes longer in one piece.
 *
 * @param load the `require` of who needs them
 * @param parts names of modules, in the order in which they build on each other
 */
export async function loadInParts(load: (name: string) => unknown, parts: readonly string[]): Promise<void> {
  for (const part of parts) {
    try {
      load(part);
    } catch (error) {
      if (!ABSENT.includes((error as NodeJS.ErrnoException).code ?? '')) {
        throw error;
      }
    }
    await yieldToEventLoop();
  }
}
