import { show } from '../../table';
import type { SeriesNote } from '../types';

/**
 * What is to be said where some readings have a key and others none, such as those of before a key was told: they are a
 * machine that nobody meant. Undefined where all have one, or none has.
 */
export function keylessNote(keys: Iterable<string | null>): SeriesNote | undefined {
  const all = [...keys];
  const named = all.find((key) => key !== null);
  if (named === undefined || !all.includes(null)) {
    return undefined;
  }
  return {
    kind: 'keys',
    text: `Beside ${show(named)} there are readings without a key: they are a machine of their own, with rows in each train set. If they are from before a key was told, forget all that is kept by a message with msg.reset.`,
  };
}
