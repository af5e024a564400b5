import { MONTHS } from './months';

const MAX_LENGTH = 40;

/** Numbers and dates whose meaning is not certain enough to read them. */
const UNCERTAIN: readonly RegExp[] = [
  // About, below, above; with a tolerance; with a power of ten; with a mark of a footnote.
  /^[~≈<>≤≥±] ?[\d.,]+\D{0,6}$/,
  /^[+-]?[\d.,]+ ?± ?[\d.,]+/,
  /^[+-]?[\d.,]+ ?[x×*] ?10\^?[-+\d]/,
  /^[+-]?\d+(?:[.,]\d+)? ?[*†‡]$/,
  // With a comma, in a file where it parts fields; in thousands, millions or billions.
  /^[+-]?\d+,\d+[eE][+-]?\d+$/,
  /^[+-]?\d[\d.,]* ?(?:Mio|Mrd|mln|bn)\.?$/,
  /^[+-]?\d[\d.,]*[.,]\d+[kMGT]$/,
  // In single quotes, which are part of the cell; behind one, as a spreadsheet is told that a number is text.
  /^'[+-]?\d[\d.,]*'?$/,
  // Degrees, minutes and seconds.
  /^[+-]?\d+° ?\d+(?:[.,]\d+)? ?['′]/,
  // Durations with years or months.
  /^P(?=\d)(?:\d+[YMWD])*(?:T(?:\d+[HM])*(?:\d+(?:[.,]\d+)?S)?)?$/,
  // Dates without a year, of a month without its day, and what programs write.
  /^\d\d?\.\d\d?\.$/,
  /^(?:0[1-9]|1[0-2])\.(?:19|20)\d\d$/,
  /^\/?Date\(-?\d+/,
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  // From a date to another; with a time of day that is not read, a zone by its name.
  /^\d\d?([./])\d\d?\1\d{4}(?: \d\d?:\d\d)? ?[-–] ?\d/,
  /^\d\d?-\p{L}{3}-(?:\d\d){1,2} \d/u,
  /^\p{L}{3,9}\.? \d\d?,? \d{4}[ ,]+\d/u,
];
/** `Feb-24`, `2. März`, `2 Mar`. */
const WITH_MONTH = /^(?:(\p{L}{3,9})\.?[-/ ]\d\d?|\d\d?\.?[-/ ](\p{L}{3,9}))\.?$/u;

/** Whether a text that reads as nothing is a number or a date to a person. */
export function isUncertain(cell: string): boolean {
  if (cell.length > MAX_LENGTH || !/\d/.test(cell)) {
    return false;
  }
  const text = cell.trim();
  const named = WITH_MONTH.exec(text);
  const month = named?.[1] ?? named?.[2];
  return month === undefined ? UNCERTAIN.some((form) => form.test(text)) : MONTHS.has(month.toLowerCase());
}
