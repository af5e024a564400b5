/** A whole number of 16 digits or more, or a string, which may hold digits too. */
const STRING_OR_LONG = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
/** A quick look for such a number; the digits of a fraction are no sign of one. */
const LONG = /(?<![\d.])\d{16}/;
const MARKED = /^\0-?\d+$/;

/**
 * JSON.parse, but whole numbers beyond 2^53 become bigint instead of being rounded. Throws SyntaxError.
 */
export function parseJson(text: string): unknown {
  if (!LONG.test(text)) {
    return JSON.parse(text);
  }
  let marked = false;
  const replaced = text.replace(STRING_OR_LONG, (match) => {
    if (match.startsWith('"') || Number.isSafeInteger(Number(match))) {
      return match;
    }
    marked = true;
    return `"\\u0000${match}"`;
  });
  return marked ? JSON.parse(replaced, unmarked) : JSON.parse(text);
}

function unmarked(_key: string, value: unknown): unknown {
  return typeof value === 'string' && MARKED.test(value) ? BigInt(value.slice(1)) : value;
}
