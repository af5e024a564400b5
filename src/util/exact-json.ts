/** A whole number of 16 digits or more, or a string, which may hold digits too. */
const STRING_OR_LONG = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
/** A quick test for such a number; the digits of a fraction do not count. */
const LONG = /(?<![\d.])\d{16}/;
const MARKED = /^\0-?\d+$/;

/**
 * JSON.parse, but whole numbers beyond 2^53 become bigint, or what `toValue` makes of their digits, instead of being
 * rounded. Throws SyntaxError.
 */
export function parseJson(text: string, toValue: (digits: string) => unknown = BigInt): unknown {
  if (!mayHoldLong(text)) {
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
  const unmarked = (_key: string, value: unknown): unknown =>
    typeof value === 'string' && MARKED.test(value) ? toValue(value.slice(1)) : value;
  return marked ? JSON.parse(replaced, unmarked) : JSON.parse(text);
}

/** Whether a JSON text has so many digits in a row that they may be a number beyond 2^53; 10 ms for a megabyte. */
export function mayHoldLong(text: string): boolean {
  return LONG.test(text);
}

/** A text of digits that `stringifyBare` writes as a number, whatever its size. */
export function bare(digits: string): string {
  return `\0${digits}`;
}

/** JSON.stringify, with texts of `bare` as numbers. */
export function stringifyBare(value: unknown): string {
  return JSON.stringify(value).replace(/"\\u0000(-?\d+)"/g, '$1');
}
