const WORD = /[\p{L}\p{M}]+|\p{N}+/gu;
const MAX_WORDS = 60;

/**
 * The distinct tokens of a text: its words in lower case, pairs of adjacent words, and its first one to three
 * characters, which carry the meaning of codes such as "M14860".
 */
export function findTokens(text: string): Set<string> {
  const tokens = new Set<string>();
  const lower = text.normalize('NFC').toLowerCase();
  let previous: string | undefined;
  let words = 0;
  for (const [word] of lower.matchAll(WORD)) {
    if (++words > MAX_WORDS) {
      break;
    }
    tokens.add(word);
    if (previous !== undefined) {
      tokens.add(`${previous} ${word}`);
    }
    previous = word;
  }
  for (let length = 1; length <= 3 && length < lower.length; length++) {
    tokens.add(`^${lower.slice(0, length)}`);
  }
  return tokens;
}

/** The first number in a text, or NaN. */
export function findNumber(text: string): number {
  const found = /[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?/.exec(text);
  return found ? Number(found[0]) : NaN;
}
