import { TEXTS } from '../tuned';
import { findTokens } from './tokens';

/** Most distinct tokens counted exactly on the first attempt: about 40 MB. */
const MAX_COUNTED = 250_000;
const BUCKETS = 1 << 20;
interface Entry {
  text: string;
  /** Rows that contain it. */
  count: number;
  /** Whether a category has it as a level. */
  isNamed?: boolean;
}

/** A token's rows, and its entries: their number, the last of them, and the sum of what each is known by. */
interface Found {
  rows: number;
  entries: number;
  last: Entry;
  sum: number;
}

/**
 * The tokens that split the rows best, by the variance of their presence. Long texts have tens of millions of tokens
 * and pairs, nearly all of them rare: a one-row count-min sketch (G. Cormode and S. Muthukrishnan, 2005) rules those
 * out, and only tokens that may be common are counted exactly. The result is the same.
 *
 * A token that stands where a better one does, or in one text alone that has a level, would be the same column twice: of
 * names with a number, such as "v12", most tokens are (docs/benchmarks/fit-times.md, "Small fits").
 *
 * @param known rows that contain any text
 */
export function commonTokens(entries: readonly Entry[], known: number, maxCounted = MAX_COUNTED): string[] {
  const minRows = Math.max(3, Math.floor(known / 1000));
  const frequency =
    counted(entries, () => true, maxCounted) ?? counted(entries, maybeCommon(entries, minRows), Infinity)!;
  const isOnce = known >= TEXTS.rowsOfOnce;
  const taken = new Set<string>();
  return [...frequency]
    .filter(([, { rows }]) => rows >= minRows && known - rows >= minRows)
    .filter(([, { entries, last }]) => !isOnce || entries > 1 || last.isNamed !== true)
    .map(([token, { rows, entries, sum }]) => ({
      token,
      weight: rows * (known - rows),
      places: `${rows} ${entries} ${sum}`,
    }))
    .sort((a, b) => b.weight - a.weight || (a.token < b.token ? -1 : 1))
    .filter(({ places }) => !isOnce || (!taken.has(places) && taken.add(places)))
    .slice(0, TEXTS.tokens)
    .map(({ token }) => token);
}

/** The rows and the entries of each wanted token, or undefined if there are more than `max` tokens. */
function counted(
  entries: readonly Entry[],
  isWanted: (token: string) => boolean,
  max: number,
): Map<string, Found> | undefined {
  const frequency = new Map<string, Found>();
  for (const [place, entry] of entries.entries()) {
    const own = hashPlace(place);
    for (const token of findTokens(entry.text)) {
      if (!isWanted(token)) {
        continue;
      }
      const found = frequency.get(token);
      if (found === undefined) {
        frequency.set(token, { rows: entry.count, entries: 1, last: entry, sum: own });
        continue;
      }
      found.rows += entry.count;
      found.entries++;
      found.last = entry;
      found.sum = (found.sum + own) % Number.MAX_SAFE_INTEGER;
    }
    if (frequency.size > max) {
      return undefined;
    }
  }
  return frequency;
}

/** What an entry is known by: sums of these differ where entries do. */
function hashPlace(place: number): number {
  const high = Math.imul(place + 1, 0x9e3779b1) >>> 0;
  const low = Math.imul(high ^ (high >>> 15), 0x85ebca6b) >>> 0;
  return (high & 0xfffff) * 4294967296 + low;
}

/** False only for tokens in fewer than `minRows` rows. */
function maybeCommon(entries: readonly Entry[], minRows: number): (token: string) => boolean {
  const rows = new Float64Array(BUCKETS);
  for (const { text, count } of entries) {
    for (const token of findTokens(text)) {
      rows[hashToken(token)] += count;
    }
  }
  return (token) => rows[hashToken(token)] >= minRows;
}

function hashToken(token: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < token.length; i++) {
    hash = Math.imul(hash ^ token.charCodeAt(i), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) & (BUCKETS - 1);
}
