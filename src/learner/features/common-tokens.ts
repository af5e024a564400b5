import { tokensOf } from './tokens';

/** Most tokens that encode a text column. */
export const MAX_TOKENS = 100;
/** Most distinct tokens counted exactly on the first attempt: about 40 MB. */
const MAX_COUNTED = 250_000;
const BUCKETS = 1 << 20;

interface Entry {
  text: string;
  /** Rows that contain it. */
  count: number;
}

/**
 * The tokens that split the rows best, by the variance of their presence. Long texts have tens of millions of tokens
 * and pairs, nearly all of them rare: a one-row count-min sketch (G. Cormode and S. Muthukrishnan, 2005) rules those
 * out, and only tokens that may be common are counted exactly. The result is the same.
 *
 * @param known rows that contain any text
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

/** The number of rows of each wanted token, or undefined if there are more than `max` tokens. */
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

/** False only for tokens in fewer than `minRows` rows. */
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
