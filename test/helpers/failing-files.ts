import fs from 'node:fs';
import promises from 'node:fs/promises';

import { Gate } from './wait';

/** Calls of `node:fs/promises`, and of `node:fs` where their names end in Sync. */
export type FailingCall =
  | 'stat'
  | 'readFile'
  | 'writeFile'
  | 'open'
  | 'openSync'
  | 'mkdir'
  | 'rename'
  | 'renameSync'
  | 'readdir'
  | 'readFileSync'
  | 'readdirSync';

/**
 * From now on calls whose first argument matches fail with a code, as they do with too many open files or a tired disk.
 * @returns makes them work again
 */
export function failing(calls: readonly FailingCall[], code: string, wanted: RegExp): () => void {
  const originals = calls.map((call) => {
    const module = (call.endsWith('Sync') ? fs : promises) as unknown as Record<string, unknown>;
    return { module, call, original: module[call] as (...args: unknown[]) => unknown };
  });
  for (const { module, call, original } of originals) {
    module[call] = (...args: unknown[]): unknown => {
      if (!wanted.test(String(args[0]))) {
        return original(...args);
      }
      const error = Object.assign(new Error(`${code}: injected, ${call}`), { code, syscall: call });
      if (module === (fs as unknown)) {
        throw error;
      }
      return Promise.reject(error);
    };
  }
  return () => originals.forEach(({ module, call, original }) => (module[call] = original));
}

/**
 * From now on calls of `node:fs/promises` whose first argument matches do not answer, as on a disk that hangs, until they
 * are let go.
 * @returns `reached` resolves with the first such call
 */
export function holding(call: 'open' | 'rename', wanted: RegExp): { reached: Promise<void>; letGo(): void } {
  const module = promises as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const original = module[call]!;
  const [reached, gate] = [new Gate(), new Gate()];
  module[call] = async (...args) => {
    if (wanted.test(String(args[0]))) {
      reached.open();
      await gate.opened;
    }
    return original(...args);
  };
  return {
    reached: reached.opened,
    letGo() {
      module[call] = original;
      gate.open();
    },
  };
}
