import { tokensOf } from './tokens';

/** Tokens that a text column is encoded by at most. */
export const TOKENS = 100;
/** Different tokens that are counted one by one at first: some 40 MB. */
const MOST_COUNTED = 250_000;
const BUCKETS = 1 << 20;

interface Entry {
  text: string;
  /** Rows that hold it. */
  count: number;
}

/**
 * Tokens that split the rows best, by the variance of their presence; those with the same rows count once. Texts of
 * many different words have tens of millions of tokens and pairs, nearly all of them rare: those are found out by
 * counts that several tokens share (a count-min sketch of one row), and only what may be common is counted by itself.
 * The outcome is the same.
 *
 * @param known rows that hold any text
 */
export function commonTokens(entries: readonly Entry[], known: number, mostCounted = MOST_COUNTED): string[] {
  const least = Math.max(3, Math.floor(known / 1000));
  const frequency =
    counted(entries, () => true, mostCounted) ?? counted(entries, maybeCommon(entries, least), Infinity)!;
  return [...frequency]
    .filter(([, count]) => count >= least && known - count >= least)
    .map(([token, count]) => ({ token, weight: count * (known - count) }))
    .sort((a, b) => b.weight - a.weight || (a.token < b.token ? -1 : 1))
    .slice(0, TOKENS)
    .map(({ token }) => token);
}

/** Rows by token, of those tokens that are wanted; undefined where there are more than `most`. */
function counted(
  entries: readonly Entry[],
  isWanted: (token: string) => boolean,
  most: number,
): Map<string, number> | undefined {
  const frequency = new Map<string, number>();
  for (const { text, count } of entries) {
    for (const token of tokensOf(text)) {
      if (isWanted(token)) {
        frequency.set(token, (frequency.get(token) ?? 0) + count);
      }
    }
    if (frequency.size > most) {
      return undefined;
    }
  }
  return frequency;
}

/** False only for tokens of fewer than `least` rows. */
function maybeCommon(entries: readonly Entry[], least: number): (token: string) => boolean {
  const rows = new Float64Array(BUCKETS);
  for (const { text, count } of entries) {
    for (const token of tokensOf(text)) {
      rows[bucketOf(token)]! += count;
    }
  }
  return (token) => rows[bucketOf(token)]! >= least;
}

function bucketOf(token: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < token.length; i++) {
    hash = Math.imul(hash ^ token.charCodeAt(i), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) & (BUCKETS - 1);
}
