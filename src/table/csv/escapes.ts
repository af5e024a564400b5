/*
 * Backslashes before quotes, delimiters and line ends within text, as MySQL (FIELDS ESCAPED BY) and Python (`escapechar` of
 * csv) write them: https://dev.mysql.com/doc/refman/8.4/en/load-data.html, https://docs.python.org/3/library/csv.html
 */

import type { Pieces } from '../text/decode';

const SIGNS = ['\\', '"', '\n', '\r', ',', ';', '\t', '|'];
/** Characters that Unicode keeps out of texts stand for them while the fields are told apart. */
const FIRST = 0xfdd0;
const ESCAPED = /\\([\\"\n\r,;\t|])/g;
const HIDDEN = new RegExp(
  `[\\u{${FIRST.toString(16)}}-\\u{${(FIRST + SIGNS.length - 1).toString(16)}}]`,
  'gu',
);

/** A text in which no sign behind a backslash parts or ends fields any more. */
export function hideEscapes(text: string): string {
  return text.replace(ESCAPED, (_, sign: string) => String.fromCharCode(FIRST + SIGNS.indexOf(sign)));
}

/** Whether a sign stands behind a backslash that could end a field. */
export function mayBeEscaped(text: string): boolean {
  return /\\["\n\r,;\t|]/.test(text);
}

/** What was hidden in a field, as it was meant: a backslash before what parts no fields of this table is a part of the text. */
export function showEscapes(field: string, delimiter: string): string {
  return field.replace(HIDDEN, (hidden) => {
    const at = hidden.charCodeAt(0) - FIRST;
    const sign = SIGNS[at]!;
    return at < 4 || sign === delimiter ? sign : `\\${sign}`;
  });
}

/** The pieces of a text, with the signs behind backslashes hidden. */
export function hiddenPieces(pieces: Pieces): Pieces {
  const hidden = async function* (): AsyncIterable<string> {
    let rest = '';
    for await (const piece of pieces()) {
      const text = rest + piece;
      const backslashes = /\\*$/.exec(text)![0].length;
      // The last of them may stand before the first sign of the next piece.
      rest = backslashes % 2 === 1 ? '\\' : '';
      yield hideEscapes(text.slice(0, text.length - rest.length));
    }
    yield rest;
  };
  return Object.assign(hidden, { reached: pieces.reached, oldEncoding: pieces.oldEncoding });
}
