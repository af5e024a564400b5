import { tokensOf } from './tokens';

/** Maximum number of tokens that encode a text column. */
export const MAX_TOKENS = 100;
/** Distinct tokens counted exactly at first: about 40 MB. */
const MAX_COUNTED = 250_000;
const BUCKETS = 1 << 20;

interface Entry {
  text: string;
  /** Rows that hold it. */
  count: number;
}

/**
 * The tokens that split the rows best, by the variance of their presence. Texts of many different words have tens of
 * millions of tokens and pairs, nearly all of them rare: a count-min sketch of one row (G. Cormode and S.
 * Muthukrishnan, 2005) rules those out, and only tokens that may be common are counted exactly. The result is the same.
 *
 * @param known rows that hold any text
 */
export function commonTokens(entries: readonly Entry[], known: number, maxCounted = MAX_COUNTED): string[] {
  const minRows = Math.max(3, Math.floor(known / 1000));
  const frequency =
    counted(entries, () => true, maxCounted) ?? counted(entries, maybeCommon(entries, minRows), Infinity)!;
  return [...frequency]
    .filter(([, count]) => count >= minRows && known - count >= minRows)
    .map(([token, count]) => ({ token, weight: count * (known - count) }))
    .sort((a, b) => b.weight - a.weight || (a.token < b.token ? -1 : 1))
    .slice(0, MAX_TOKENS)
    .map(({ token }) => token);
}

/** Number of rows per wanted token; undefined with more than `max` tokens. */
function counted(
  entries: readonly Entry[],
  isWanted: (token: string) => boolean,
  max: number,
): Map<string, number> | undefined {
  const frequency = new Map<string, number>();
  for (const { text, count } of entries) {
    for (const token of tokensOf(text)) {
      if (isWanted(token)) {
        frequency.set(token, (frequency.get(token) ?? 0) + count);
      }
    }
    if (frequency.size > max) {
      return undefined;
    }
  }
  return frequency;
}

/** False only for tokens of fewer than `minRows` rows. */
function maybeCommon(entries: readonly Entry[], minRows: number): (token: string) => boolean {
  const rows = new Float64Array(BUCKETS);
  for (const { text, count } of entries) {
    for (const token of tokensOf(text)) {
      rows[bucketOf(token)] += count;
    }
  }
  return (token) => rows[bucketOf(token)] >= minRows;
}

function bucketOf(token: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < token.length; i++) {
    hash = Math.imul(hash ^ token.charCodeAt(i), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) & (BUCKETS - 1);
}
