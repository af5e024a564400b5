import { show } from '../../table';
import type { SeriesNote } from '../types';

/**
 * A warning where some readings have a key and others none, such as those from before the key was configured: they make up
 * a machine that nobody meant. Undefined where all have one, or none has.
 */
export function keylessNote(keys: Iterable<string | null>): SeriesNote | undefined {
  const all = [...keys];
  const named = all.find((key) => key !== null);
  if (named === undefined || !all.includes(null)) {
    return undefined;
  }
  return {
    kind: 'keys',
    text: `Besides ${show(named)} there are readings without a key. They count as a machine of their own, with rows in each train set. If they are from before the key was set, send msg.reset to forget everything kept so far.`,
  };
}
