/* A take over in a process of its own, with a user folder and the number of the file change before which it kills itself. */
import { beforeChanges } from './before-changes';
import { takeOver, withUserFolder } from './take-over';

const [folder, killBefore] = process.argv.slice(2) as [string, string];

let changes = 0;
void withUserFolder(folder, (open) => {
  beforeChanges(folder, () => {
    changes++;
    if (changes === Number(killBefore)) {
      process.kill(process.pid, 'SIGKILL');
    }
  });
  return takeOver(open);
});
