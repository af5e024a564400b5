/** A whole number of 16 digits or more. */
const LONG_NUMBER = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
const SHORTEST = 16;
const BACKSLASH = 92;
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
  const replaced = withMarks(text);
  const unmarked = (_key: string, value: unknown): unknown =>
    typeof value === 'string' && MARKED.test(value) ? toValue(value.slice(1)) : value;
  return replaced === undefined ? JSON.parse(text) : JSON.parse(replaced, unmarked);
}

/** The text with its long numbers as marked strings; undefined where it has none. Strings, which may hold digits, stay. */
function withMarks(text: string): string | undefined {
  let out: string | undefined;
  let kept = 0;
  for (let at = 0; at < text.length;) {
    const open = text.indexOf('"', at);
    const end = open < 0 ? text.length : open;
    if (end - at >= SHORTEST) {
      const between = text.slice(at, end);
      const marked = between.replace(LONG_NUMBER, (digits) =>
        Number.isSafeInteger(Number(digits)) ? digits : `"\\u0000${digits}"`,
      );
      if (marked !== between) {
        out = `${out ?? ''}${text.slice(kept, at)}${marked}`;
        kept = end;
      }
    }
    at = open < 0 ? text.length : endOfString(text, open) + 1;
  }
  return out === undefined ? undefined : out + text.slice(kept);
}

/** Where the string that begins at `open` has its closing quote; the end of the text where it has none. */
function endOfString(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) {
      slashes++;
    }
    if (slashes % 2 === 0) {
      return at;
    }
  }
  return text.length;
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
