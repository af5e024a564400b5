import { CATEGORY_LEVELS } from '../tuned';
import { MAX_BINS } from './binning';

/**
 * A column of bins cannot name all levels of a column of the table with many: they are divided among several, by their
 * text. So a later row of a level that no row has had is in one of these columns, and elsewhere in the others, as a row
 * is that is held out with its level: what held-out rows tell of it holds later (docs/benchmarks/told.md, "More levels
 * than a column has bins").
 */
export interface LevelShare {
  /** Which of the columns this is. */
  index: number;
  of: number;
}

/** Bins 0 and 1 are for missing and unknown levels, and the last is for those of the other columns. */
const MOST_LEVELS = MAX_BINS - 2;

/** The levels of each share, as they come, where one column cannot name all of `levels`. */
export function divideLevels<T extends string | number>(
  levels: readonly T[],
): { share: LevelShare; values: T[] }[] {
  const of = Math.min(CATEGORY_LEVELS.shares, Math.ceil(levels.length / CATEGORY_LEVELS.perShare));
  const shares = Array.from({ length: of }, (_, index) => ({ share: { index, of }, values: [] as T[] }));
  for (const level of levels) {
    const { values } = shares[chooseShare(level, of)];
    if (values.length < MOST_LEVELS) {
      values.push(level);
    }
  }
  return shares;
}

/** Whether a level, known or not, is of another share. */
export function isElsewhere(level: string | number, { index, of }: LevelShare): boolean {
  return chooseShare(level, of) !== index;
}

/** FNV-1a, mixed once more: its low bits alone divide short texts unevenly. */
function chooseShare(level: string | number, of: number): number {
  const text = String(level);
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) % of;
}
