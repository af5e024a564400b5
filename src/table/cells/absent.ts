/*
 * The one rule of what a cell says where it has no value. It holds where the other cells are numbers, dates, or true and
 * false: in a column of words all of it stays text.
 */

/** NA, NaN and null, as programs write them, in lower case. */
const NULLS = new Set(['na', 'n/a', 'nan', '-nan', 'null', '<na>', '#n/a n/a']);

/** What devices, forms and reports write in place of a value; a column of words may have any of them as a word. */
const WORDS = new Set(
  'unavailable unknown none err error offline missing n.a. k.a. ol - -- --- ---- ----- – — ? . .. ... …'.split(
    ' ',
  ),
);

/**
 * What spreadsheets show where a formula has no value, in any language: `#DIV/0!`, `#BEZUG!`, `#¿NOMBRE?`, a cell that is
 * too narrow, an error of LibreOffice; and their N/A, which has no mark at its end.
 */
const CELL_ERROR =
  /^(?:#(?:[¡¿]?[\p{Lu}_]+(?:\/0)?[!?]|N\/[ABDV]!?|NA|NV|I\/T|Н\/Д|YOK|HIÁNYZIK|NENÍ_K_DISPOZICI|GETTING_DATA|#+)|Err:5\d\d)$/u;

const MAX_LENGTH = 20;
const SPACE = 32;
const NO_BREAK_SPACE = 160;

/** What can begin such a text, beside white space: of other text nothing more is looked at. */
const FIRST = 'nNuUeEoOmMkK-–—?.…<#';

/** White space alone, NA and its like, a word for "missing" or an error of a spreadsheet; case does not matter. */
export function isAbsent(text: string): boolean {
  const first = text.charCodeAt(0);
  if (isDigit(first)) {
    return false;
  }
  const own = first <= SPACE || first === NO_BREAK_SPACE ? text.trim() : text;
  if (own === '') {
    return text !== '';
  }
  if (own.length > MAX_LENGTH || !FIRST.includes(own[0]!) || isDigit(own.charCodeAt(1))) {
    return false;
  }
  const lower = own.trimEnd().toLowerCase();
  return NULLS.has(lower) || WORDS.has(lower) || CELL_ERROR.test(own.trimEnd());
}

/** Whether a text for "missing" is one that a column of words can have as a word, such as the state "offline". */
export function isMissingWord(text: string): boolean {
  return text.length <= MAX_LENGTH && WORDS.has(text.trim().toLowerCase());
}

function isDigit(code: number): boolean {
  return code > 47 && code < 58;
}
