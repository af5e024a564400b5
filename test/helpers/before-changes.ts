import fs from 'node:fs';
import promises from 'node:fs/promises';

type Anyone = (...args: unknown[]) => unknown;

const CHANGES = ['mkdir', 'open', 'rename', 'rm', 'unlink', 'writeFile', 'link', 'copyFile'];
const SYNC_CHANGES = CHANGES.map((name) => `${name}Sync`);

/** Calls back before each change of a file in a folder by this process. Answers how to end that. */
export function beforeChanges(folder: string, told: (change: string) => void): () => void {
  const hook = (module: Record<string, Anyone>, names: readonly string[]): (() => void)[] =>
    names.map((name) => {
      const original = module[name]!;
      module[name] = (...args: unknown[]) => {
        const isRead = name.startsWith('open') && (args[1] === undefined || args[1] === 'r');
        if (!isRead && args.some((one) => typeof one === 'string' && one.startsWith(folder))) {
          told(`${name} ${args.filter((one) => typeof one === 'string').join(' ')}`);
        }
        return original(...args);
      };
      return () => (module[name] = original);
    });
  const undo = [
    ...hook(promises as unknown as Record<string, Anyone>, CHANGES),
    ...hook(fs as unknown as Record<string, Anyone>, SYNC_CHANGES),
  ];
  return () => undo.forEach((restore) => restore());
}
