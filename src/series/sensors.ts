import { isAbsent, isMissingWord } from '../table/cells/classify';
import { parseNumber, parseWithAnyDecimal } from '../table/cells/parse-number';
import { show } from '../table/cells/types';
import { MissingWords } from '../table/columns/slices';
import { isDate } from '../util/values';
import { ServiceError } from '../wire/service-error';
import type { SeriesCells, SeriesNote, SeriesReading, SeriesSettings } from './types';

export type SensorKind = 'number' | 'boolean' | 'text';

/** A column of the readings. Text is dictionary-encoded. */
export interface Sensor {
  index: number;
  name: string;
  kind: SensorKind;
  words: string[];
  codes: Map<string, number>;
  /** Of text: how many of its last values are numbers. */
  numbers: number;
  /** Of text: another sensor has its name by now, one of numbers. */
  hasTurned: boolean;
  /** Of numbers: the column began as text, so a word in it is missing, and no error. */
  wasText: boolean;
}

/** So many numbers in a row make a column of numbers of one that began as text. */
const TURNS_AFTER = 10;

/** At most this many columns, and this many different texts in one: beyond that a column is no sensor. */
const MAX_SENSORS = 500;
const MAX_WORDS = 1000;
/** At most this many characters in such a text. */
const MAX_CHARACTERS = 1000;

/** The columns seen so far. The first value of a column decides its kind. */
export class Sensors {
  readonly list: Sensor[] = [];
  /** Sensors that occurred in a reading that was taken: rows have columns for these. */
  seen: readonly Sensor[] = [];
  private readonly byName = new Map<string, Sensor>();
  /** Columns of text that hold numbers by now. */
  private readonly turning = new Set<Sensor>();
  private readonly missing: MissingWords;

  constructor(
    private readonly settings: SeriesSettings,
    private readonly notifyOnce: (note: SeriesNote, once: string) => void,
    private readonly onNew: (sensor: Sensor, word?: string) => void,
  ) {
    this.missing = new MissingWords(settings.missingWords);
  }

  get(name: string): Sensor | undefined {
    return this.byName.get(name);
  }

  /**
   * Appends the cells of a reading to `out` as [sensor, number, sensor, number …], without missing ones.
   *
   * @param row of a table, counted from 1
   * @param skip the columns of the time and the key
   * @returns how many cells did not fit their column and count as missing
   */
  read(
    reading: SeriesReading,
    skip: (name: string) => boolean,
    row: number | undefined,
    out: number[],
  ): number {
    let unreadable = 0;
    const values: [name: string, value: number | boolean | string][] = [];
    let room = MAX_SENSORS - this.list.length;
    for (const [name, cell] of Object.entries(reading)) {
      if (skip(name) || cell === null || cell === undefined || isDate(cell) || this.isMissing(cell)) {
        continue;
      }
      const value = this.readValue(cell, name, row);
      if (value === undefined) {
        continue;
      }
      const known = this.byName.get(name);
      if (this.settings.shape === 'auto' && isWordAmongOthers(value, known)) {
        continue;
      }
      if (known === undefined && --room < 0) {
        throw tooManySensors(name);
      }
      if (known === undefined || fits(known.kind, value)) {
        values.push([name, value]);
      } else {
        this.refuse(known, cell, findKind(value), row);
        unreadable++;
      }
    }
    // Only now: a reading that is refused must leave no columns behind, since they would stay for good.
    for (const [name, value] of values) {
      const sensor = this.byName.get(name) ?? this.add(name, findKind(value));
      const code = this.findCode(sensor, value);
      if (sensor.kind === 'text') {
        this.count(sensor, value);
      }
      if (!Number.isNaN(code)) {
        out.push(sensor.index, code);
      }
    }
    return unreadable;
  }

  /**
   * Makes columns of numbers of those that began as text and hold numbers by now.
   * @returns the sensor of the text and that of the numbers, of each
   */
  turn(): [text: Sensor, number: Sensor][] {
    const turned = [...this.turning].map((text): [Sensor, Sensor] => {
      const words = text.words.filter((word) => this.readNumber(word) === undefined).map(show);
      this.notifyOnce(
        {
          kind: 'text',
          text: `Column "${text.name}" began with text (${words.slice(0, 3).join(', ')}) and holds numbers by now: from here on it is a column of numbers, in which words are missing.`,
        },
        `turned ${text.name}`,
      );
      return [text, this.succeed(text)];
    });
    this.turning.clear();
    return turned;
  }

  /** The number that a text is; undefined where it is none. */
  readNumber(text: string): number | undefined {
    const value = this.textValue(text);
    return typeof value === 'number' ? value : undefined;
  }

  /** What is known of the columns now, for `rollBack`. */
  mark(): readonly number[] {
    return this.list.map(({ words }) => words.length);
  }

  /** Forgets the columns and words found since a mark. @returns whether there were any */
  rollBack(mark: readonly number[]): boolean {
    let found = false;
    for (const sensor of this.list.splice(mark.length)) {
      this.byName.delete(sensor.name);
      this.turning.delete(sensor);
      found = true;
    }
    for (const [index, { words, codes }] of this.list.entries()) {
      for (const word of words.splice(mark[index]!)) {
        codes.delete(word);
        found = true;
      }
    }
    return found;
  }

  /** Notes that a reading with this sensor was taken. */
  see(index: number): void {
    if (index >= this.seen.length) {
      this.seen = this.list.slice(0, index + 1);
    }
  }

  /** Restores a sensor from disk. */
  restore(name: string, kind: SensorKind): Sensor {
    const known = this.byName.get(name);
    if (known !== undefined && known.kind === 'text' && kind === 'number') {
      return this.succeed(known);
    }
    return known ?? this.put(name, kind);
  }

  restoreWord(sensor: Sensor, word: string): void {
    if (!sensor.codes.has(word)) {
      sensor.codes.set(word, sensor.words.length);
      sensor.words.push(word);
    }
  }

  /** Decodes a sensor's number. */
  cell({ kind, words }: Sensor, value: number): SeriesCells[string] {
    if (Number.isNaN(value)) {
      return null;
    }
    return kind === 'number' ? value : kind === 'boolean' ? value === 1 : words[value]!;
  }

  private readValue(
    cell: unknown,
    name: string,
    row: number | undefined,
  ): number | boolean | string | undefined {
    switch (typeof cell) {
      case 'number':
        return Number.isFinite(cell) ? cell : undefined;
      case 'bigint':
        return Number(cell);
      case 'boolean':
        return cell;
      case 'string':
        return this.textValue(cell.trim());
      default:
        throw badCell(
          name,
          row,
          `the cell holds ${Array.isArray(cell) ? 'an array' : typeof cell === 'object' ? 'an object' : `a ${typeof cell}`}. A cell must be a number, text, or true or false: flatten it first.`,
        );
    }
  }

  /** Whether a cell is among the words for missing: as in tables, but in nodes of earlier versions in the same letters only. */
  private isMissing(cell: unknown): boolean {
    const { shape, missingWords } = this.settings;
    return shape === 'auto'
      ? !this.missing.isEmpty && this.missing.means(cell)
      : typeof cell === 'string' && missingWords.includes(cell.trim());
  }

  private textValue(text: string): number | boolean | string | undefined {
    if (isMissingWord(text)) {
      // A column of words may have it as one of them.
      return text;
    }
    if (text === '' || isAbsent(text)) {
      return undefined;
    }
    const number = parseNumber(text, false) ?? parseWithAnyDecimal(text);
    if (number !== undefined) {
      return Number.isFinite(number) ? number : undefined;
    }
    const lower = text.length <= 5 ? text.toLowerCase() : '';
    return lower === 'true' ? true : lower === 'false' ? false : text;
  }

  /** A cell that does not fit its column: an error, or missing with a warning. @throws ServiceError table.invalid */
  private refuse(sensor: Sensor, cell: unknown, kind: SensorKind, row: number | undefined): void {
    const { name } = sensor;
    if (this.settings.unreadable === 'error' && !(sensor.wasText && kind === 'text')) {
      throw badCell(
        name,
        row,
        `${show(cell)} is ${nameKind(kind)}, and this column held ${PLURALS[sensor.kind]} before. Send it in a column of its own, add it to Missing words, or set Unreadable cells to missing.`,
      );
    }
    this.notifyOnce(
      {
        kind: 'unreadable',
        text: `Column "${name}": ${show(cell)} and what else is ${nameKind(kind)} is taken as missing, since the column holds ${PLURALS[sensor.kind]}.`,
      },
      `unreadable ${kind} ${name}`,
    );
  }

  /** The number that a fitting value is stored as; NaN for a word beyond the limit. */
  private findCode(sensor: Sensor, value: number | boolean | string): number {
    if (sensor.kind !== 'text') {
      return Number(value);
    }
    const word = String(value);
    const known = sensor.codes.get(word);
    if (known !== undefined) {
      return known;
    }
    if (sensor.words.length >= MAX_WORDS || word.length > MAX_CHARACTERS) {
      this.notifyOnce(
        {
          kind: 'text',
          text: `Column "${sensor.name}" has ${word.length > MAX_CHARACTERS ? `a text of more than ${MAX_CHARACTERS} characters` : `more than ${MAX_WORDS} different texts`}, so it is hardly a state: further ones are taken as missing.`,
        },
        `text ${sensor.name}`,
      );
      return NaN;
    }
    this.restoreWord(sensor, word);
    this.onNew(sensor, word);
    return sensor.words.length - 1;
  }

  /** Notes whether a column of text holds numbers by now: at once where it held nothing but words for missing. */
  private count(sensor: Sensor, value: number | boolean | string): void {
    sensor.numbers = typeof value === 'number' ? sensor.numbers + 1 : 0;
    const isNumber =
      sensor.numbers >= TURNS_AFTER ||
      (sensor.numbers === 1 &&
        sensor.words.length <= TURNS_AFTER &&
        sensor.words.every((word) => isMissingWord(word) || this.readNumber(word) !== undefined));
    if (isNumber) {
      this.turning.add(sensor);
    }
  }

  /** The sensor of numbers that takes over the name of one of text. */
  private succeed(text: Sensor): Sensor {
    text.hasTurned = true;
    const number = this.put(text.name, 'number');
    number.wasText = true;
    return number;
  }

  private add(name: string, kind: SensorKind): Sensor {
    const sensor = this.put(name, kind);
    this.onNew(sensor);
    return sensor;
  }

  private put(name: string, kind: SensorKind): Sensor {
    const sensor: Sensor = {
      index: this.list.length,
      name,
      kind,
      words: [],
      codes: new Map(),
      numbers: 0,
      hasTurned: false,
      wasText: false,
    };
    this.list.push(sensor);
    this.byName.set(name, sensor);
    return sensor;
  }
}

function tooManySensors(name: string): ServiceError {
  return new ServiceError(
    'limit.exceeded',
    `Column "${name}" is one more than the ${MAX_SENSORS} columns that readings may have. Give sensors fixed names, and use the key to tell machines apart.`,
  );
}

/** Whether a value is a word for a missing one: a column of words alone may have it as one of them. */
function isWordAmongOthers(value: number | boolean | string, known: Sensor | undefined): boolean {
  return typeof value === 'string' && known?.kind !== 'text' && isMissingWord(value);
}

/** Numbers and truth values may be mixed; a text column takes anything. */
function fits(kind: SensorKind, value: number | boolean | string): boolean {
  switch (kind) {
    case 'number':
      return typeof value !== 'string';
    case 'boolean':
      return typeof value === 'boolean' || value === 0 || value === 1;
    case 'text':
      return true;
  }
}

function findKind(value: number | boolean | string): SensorKind {
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text';
}

const PLURALS = { number: 'numbers', boolean: 'true or false', text: 'text' };

function nameKind(kind: SensorKind): string {
  return kind === 'number' ? 'a number' : kind === 'boolean' ? 'true or false' : 'text';
}

function badCell(name: string, row: number | undefined, problem: string): ServiceError {
  const where = row === undefined ? `Column "${name}"` : `Column "${name}", row ${row}`;
  return new ServiceError('table.invalid', `${where}: ${problem}`);
}
