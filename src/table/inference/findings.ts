import { show } from '../cells/errors';
import { bothReadings } from '../cells/parse-number';
import type { CellReading, ColumnType, DateOrder, Decimal } from '../cells/types';

/** A cell and its row, counted from 0. */
export interface Sight {
  row: number;
  value: unknown;
}

/** What a column is taken as. */
export interface Settled {
  type: ColumnType;
  decimal?: Decimal;
  order?: DateOrder;
  years?: number;
  unit?: string;
  numbers?: CellReading['numbers'];
  /** A cell of text, all of which has white space around it. */
  padded?: string;
  warning?: string;
  /** Text that looks like something else, wholly. */
  look?: TextLook;
  /** The first cell that makes the column text. */
  text?: Sight;
  /** The words that make it text, where nearly all of it reads as something else. */
  words?: OddWords;
}

/** Words among cells that otherwise read as numbers or dates. */
export interface OddWords {
  like: 'numbers' | 'dates';
  /** Cells that hold a value, and those of them that are such words. */
  cells: number;
  odd: number;
  /** At most one cell in ten is such a word; else at most every second. */
  areFew: boolean;
  list: { word: string; count: number; row: number }[];
}

/** What all text of a column looks like; `whole`: like whole numbers. */
export interface TextLook {
  like: 'number' | 'either number' | 'date' | 'local date' | 'unit' | 'uncertain';
  whole: boolean;
  example: Sight;
}

/** @param odd the first cell that is not of the kind of those before it */
export function mixedWarning(column: string, kinds: string, odd: Sight): string {
  return `Column "${column}" holds ${kinds}, so it is taken as text; the first odd value is ${show(odd.value)} in row ${odd.row + 1}.${kinds === 'numbers and text' ? ` If such words mean that a value is missing, add them to Missing words (msg.missing_words).` : ''}`;
}

const SHOWN_WORDS = 5;

/**
 * Names the words that keep a column from being numbers or dates, and what takes them.
 *
 * @param asText the others are text too, so their type has to be given as well
 */
export function oddWordsWarning(column: string, words: OddWords, asText: boolean): string {
  const { like, cells, odd, areFew, list } = words;
  const shown = list
    .slice(0, SHOWN_WORDS)
    .map(
      ({ word, count, row }) =>
        `${show(word)} (${count === 1 ? '' : `${count} times, first in `}row ${row + 1})`,
    );
  const more = list.length > SHOWN_WORDS ? ` and ${list.length - SHOWN_WORDS} others` : '';
  const type = asText ? ` and set Column types ${JSON.stringify({ [column]: 'number' })}` : '';
  return `Column "${column}" is text, since ${odd} of its ${cells} cells ${odd === 1 ? 'does' : 'do'} not read as ${like}: ${shown.join(', ')}${more}. If these mean that a value is missing, add them to Missing words (msg.missing_words)${areFew ? ', or set Unreadable cells to missing (msg.unreadable)' : ''}${type}.`;
}

/** How a row of totals begins, as reports and spreadsheets end with one. */
const TOTAL =
  /^(?:grand |sub-?)?(?:total|totals|totale|totaal|sum|summe|summen|gesamt|gesamtsumme|zwischensumme|somme|suma|soma|average|mittelwert|durchschnitt|moyenne|promedio|media|合計|総計|小計|平均)[ :.]*$/i;

/** Says that a row is none of the others' kind: what it sums up would be learned as a value. */
export function totalWarning(column: string, words: OddWords): string | undefined {
  const total = words.list.find(({ word }) => TOTAL.test(word.trim()));
  return total === undefined
    ? undefined
    : `Row ${total.row + 1} looks like a total of the others (column "${column}" has ${show(total.word)}): remove it, or its numbers count as values like any other.`;
}

export function beyond64Warning(column: string): string {
  return `Column "${column}" holds whole numbers beyond 64 bits, so it is taken as text.`;
}

/** A text column that looks like something else. */
export type NamedLook = TextLook & { name: string };

/** Says of columns that look alike how they look, where, and what to do; and how to keep them as they are. */
export interface LookWarning {
  problem: string;
  keep: string;
}

/** One warning for all columns that look alike. */
export function lookWarnings(list: readonly NamedLook[]): LookWarning[] {
  return (['number', 'either number', 'date', 'local date', 'unit', 'uncertain'] as const).flatMap((like) => {
    const alike = list.filter((look) => look.like === like);
    return alike.length === 0 ? [] : [lookWarning(like, alike)];
  });
}

const NAMED = 5;

function lookWarning(like: TextLook['like'], list: readonly NamedLook[]): LookWarning {
  const names = list.slice(0, NAMED).map(({ name }) => name);
  const shown = names.map((name) => `"${name}"`).join(', ');
  const more = list.length > NAMED ? ` and ${list.length - NAMED} more` : '';
  const are = list.length === 1 ? `Column ${shown} is text` : `Columns ${shown}${more} are text`;
  const { name, example } = list[0]!;
  const where = `${show(example.value)}, ${list.length === 1 ? '' : `column "${name}", `}row ${example.row + 1}`;
  const types = (type: string): string => JSON.stringify(Object.fromEntries(names.map((key) => [key, type])));
  const keep = `Column types ${types('text')} keeps ${list.length === 1 ? 'it' : 'them'} as text without this warning.`;
  return { problem: problem(), keep };

  function problem(): string {
    switch (like) {
      case 'number':
      case 'date':
        return `${are} that reads as ${like}s (${where}): set Column types ${types(like)}.`;
      case 'either number':
        return `${are} that reads as numbers (${where}), but this can mean ${bothReadings(String(example.value))}: set Column types ${types('number-comma')} or ${types('number-point')}.`;
      case 'unit':
        return `${are} that holds numbers with several units (${where}), so that each of them is a category of its own: give all of them in one unit.`;
      case 'local date':
        return `${are} that looks like dates (${where}), but ${/^\d\d-\d\d-\d\d(?!\d)/.test(String(example.value)) ? 'the day, the month or the year may come first: write years with four digits, or' : 'the day may come first or the month:'} set Column types ${types('date-dmy')} or ${types('date-mdy')}.`;
      case 'uncertain':
        return `${are} that looks like numbers or dates (${where}), but is not read as such, so that each value is a category of its own: write plain numbers (1500, 0.05), dates with their year (2024-02-28), or seconds for a duration.`;
    }
  }
}
