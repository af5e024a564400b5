import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 10;

/**
 * What a probe answers once it is neither undefined, null nor false.
 *
 * @param what - What was missing, for the error; a function is asked when it has not come.
 * @throws after `timeoutMs`.
 */
export async function waitFor<T>(
  what: string | (() => string),
  probe: () => T | Promise<T>,
  timeoutMs = 30_000,
): Promise<Exclude<T, undefined | null | false>> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== null && found !== false) {
      return found as Exclude<T, undefined | null | false>;
    }
    if (performance.now() > end) {
      throw new Error(`waited ${timeoutMs} ms in vain for ${typeof what === 'string' ? what : what()}`);
    }
    await sleep(LOOK_MS);
  }
}

/** A step that the work under test waits at, until the test opens it. */
export class Gate<T = void> {
  readonly opened: Promise<T>;
  declare readonly open: (value: T) => void;
  declare readonly fail: (error: Error) => void;

  constructor() {
    this.opened = new Promise((resolve, reject) => Object.assign(this, { open: resolve, fail: reject }));
  }
}
