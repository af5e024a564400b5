import { isAbsent } from '../cells/classify';
import { parseNumber } from '../cells/parse-number';

/*
 * Lines that measuring devices and tools write into their tables beside the header and the rows.
 */

/** A first line that tells of the file: DATEV (its header format), and Campbell Scientific (TOA5). */
const FILE_LINE = /^"?(?:(?:EXTF|DTVF)"?;\d|TOA5",)[^\r\n]*(?:\r\n|\n|\r)/;

/** Rows that Campbell Scientific writes under the header: the units, and how the values were taken. */
const ROWS_OF_TOA5 = 2;

/** The line above the header that tells of the file; empty where there is none. */
export function fileLine(text: string): string {
  return FILE_LINE.exec(text)?.[0] ?? '';
}

/**
 * How many lines under the header name the units of the columns, as oscilloscopes and loggers write them.
 *
 * @param columns the first rows, those lines among them
 * @param line what `fileLine` has found
 */
export function linesOfUnits(columns: readonly (readonly string[])[], line: string): number {
  if (line.startsWith('"TOA5')) {
    return ROWS_OF_TOA5;
  }
  const numbers = columns.filter(
    ([, ...cells]) => cells.some(isNumber) && cells.every((cell) => isNothing(cell) || isNumber(cell)),
  );
  const units = numbers.filter(([unit]) => UNIT.test(unit!.trim()));
  // The first column may count the rows: `Sequence`.
  const isAll = numbers.every(([unit], i) => UNIT.test(unit!.trim()) || (i === 0 && !isNumber(unit!)));
  return units.length > 0 && isAll ? 1 : 0;
}

const UNIT =
  /^[([]?(?:[µumkMG]?(?:V|A|W|Wh|VA|var|Hz|s|g|m|N|J|Pa|bar|l|L|Ω|Ohm)|volts?|amp(?:ere)?s?|watts?|sec(?:ond)?s?|min(?:ute)?s?|h|hours?|[°º]\s?[CF]|deg(?:\s?[CF])?|degrees?|[CFK]|%|%RH|rpm|1\/min|rad|ppm|lx|lux|dB|psi|hPa|mm|cm|km|m\/s|m\/s[2²]|km\/h|l\/min|m[3³]|m[3³]\/h|W\/m[2²])[)\]]?$/i;

const isNumber = (field: string): boolean => Number.isFinite(parseNumber(field, true));
const isNothing = (field: string): boolean => field.trim() === '' || isAbsent(field);

/** Whether a row is a line of dashes under the header, as the tools of a database draw it. */
export function isDashes(row: readonly string[]): boolean {
  return (
    row.length > 1 &&
    row.every((field) => /^\s*-+\s*$/.test(field)) &&
    row.some((field) => field.includes('--'))
  );
}

/** Whether a row ends or counts the rows of a table: of SIMATIC HMI and WinCC, and of databases under a line of dashes. */
export function isFooter(row: readonly string[], isDashed: boolean): boolean {
  const [first = '', ...rest] = row;
  if (first.startsWith('//END') || first.startsWith('$RT_')) {
    return first.startsWith('$') || rest.every((field) => field.trim() === '');
  }
  return isDashed && /^\(\d+ [^()]+\)$/.test(row.join(' ').trim());
}
