import { ServiceError } from '../service-error';
import type { Label, OutputType, Task } from '../vocabulary';

/** What a prediction was asked for with. */
export interface PredictionContext {
  task: Task;
  output_type?: OutputType;
  quantiles?: readonly number[];
  /** Rows of the test set, where known. */
  rows?: number;
  /** The deprecated route (S 4.7): a full distribution may be plain numbers, or have neither borders nor logits. */
  legacy?: boolean;
}

/** How many numbers of each sort a row may hold. */
interface RowWidth {
  classes: number;
  quantiles: number;
  /** Of a full distribution. */
  bars: number;
}

/** How predictions are written where people and charts read them. */
export interface Digits {
  number: (value: number) => number;
  probability: (value: number) => number;
}

/** What is told of the rows of a prediction. */
export interface Telling {
  digits: Digits;
  /** The labels in the order of the probabilities; without them a class is its index. */
  classes: readonly Label[] | undefined;
  /** What each row is answered where a threshold decides, of probabilities. */
  answered?: readonly Label[];
}

/** Which of the probabilities of a row is told where there is room for one. */
interface ToldClass {
  /** Of two classes the place of the rarer one, where it is known. */
  rarer?: number;
  /** The place of a label among the classes; below 0 where it is none of them. */
  placeOf: (label: Label) => number;
}

/** The cells that a row gets. */
export interface ToldRows {
  /** Under the property. */
  value: (row: number) => unknown;
  /** `{label: p}`, under `<property>_probabilities`. */
  probabilities?: (row: number) => Record<string, number>;
}

/** Numbers of their own, under `<property>_<name>`. */
export type ToldNumbers = Partial<
  Record<'mid' | 'low' | 'high' | 'probability', (row: number) => number | null>
>;

/** All that differs from one kind of prediction to another. */
export interface PredictionKind<P> {
  /** Reads the answer of a service. @throws ServiceError `response.invalid`, naming the place */
  read(raw: unknown, asked: PredictionContext): P;
  rows(prediction: P): number;
  /** The prediction of other rows: `pick` is handed each list that has an item for each row. */
  pickRows(prediction: P, pick: <Item>(list: readonly Item[]) => Item[]): P;
  /** Those of consecutive parts of one test set, as one. @throws ServiceError `response.invalid` where they differ */
  join(parts: readonly P[]): P;
  /** The service's own shape again: null where it is no number that JSON has. @param offsets as `add` has them */
  toService(prediction: P, offsets?: readonly number[]): unknown;
  /** With a number added to all that is predicted of each row. */
  add(prediction: P, offsets: readonly number[]): P;
  /** Numbers, or labels, in the answer for a row. */
  width(most: RowWidth): number;
  /** What a row takes in memory. */
  rowBytes(prediction: P): number;
  tell(prediction: P, telling: Telling): ToldRows;
  /** For charts; empty where `value` is a number already. */
  tellNumbers(prediction: P, telling: Telling & ToldClass): ToldNumbers;
  /** [row], where the prediction holds means. */
  means?(prediction: P, output: OutputType): number[] | undefined;
  /** The levels of its quantiles, and [level][row]. */
  quantiles?(prediction: P): { levels: readonly number[]; values: number[][] };
}

/** What a number takes in memory as a property of an object. */
export const NUMBER_BYTES = 24;

/** A number, or null where it is not a finite one. */
export function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

export const written = (value: number, { number }: Digits): number | null => orNull(number(value));

export function plusOffsets(values: readonly number[], offsets: readonly number[]): number[] {
  return values.map((value, row) => value + offsets[row]!);
}

/** The quantiles of a row by their names. */
export function quantilesOfRow(
  values: readonly number[][],
  names: readonly string[],
  row: number,
  digits: Digits,
): Record<string, number | null> {
  const result: Record<string, number | null> = {};
  for (let index = 0; index < names.length; index++) {
    result[names[index]!] = written(values[index]![row]!, digits);
  }
  return result;
}

/**
 * The middle and the edges of quantiles.
 *
 * @param median [row]; left out: between the quantiles on both sides of one half
 */
export function tellBand(
  { levels, values }: { levels: readonly number[]; values: readonly (readonly number[])[] },
  digits: Digits,
  median?: readonly number[],
): ToldNumbers {
  const order = levels.map((_, at) => at).sort((a, b) => levels[a]! - levels[b]!);
  const [low, high] = [order[0], order.at(-1)];
  const middle = median === undefined ? findMiddle(levels, values, order) : (row: number) => median[row]!;
  const at = (place: number) => (row: number) => written(values[place]![row]!, digits);
  return {
    ...(middle !== undefined && { mid: (row) => written(middle(row), digits) }),
    ...(low !== undefined && high !== undefined && low !== high && { low: at(low), high: at(high) }),
  };
}

/** The median by the quantiles around it; undefined where they are all on one side of it. */
function findMiddle(
  levels: readonly number[],
  values: readonly (readonly number[])[],
  order: readonly number[],
): ((row: number) => number) | undefined {
  const above = order.find((at) => levels[at]! >= 0.5);
  const below = order.findLast((at) => levels[at]! <= 0.5);
  if (above === undefined || below === undefined) {
    return undefined;
  }
  const width = levels[above]! - levels[below]!;
  const part = width > 0 ? (0.5 - levels[below]!) / width : 0;
  return (row) => values[below]![row]! + part * (values[above]![row]! - values[below]![row]!);
}

export function assertEqual(lists: number[][], what: string): void {
  const [first, ...others] = lists;
  for (const other of others) {
    if (other.length !== first!.length || other.some((value, i) => value !== first![i])) {
      throw invalidPrediction('prediction', `has different ${what} in two parts of one table`);
    }
  }
}

/** The error of a prediction that is not what it should be. */
export function invalidPrediction(path: string, message: string): ServiceError {
  return new ServiceError('response.invalid', `The service's answer is malformed: ${path} ${message}.`);
}

export function readMatrix(raw: unknown, path: string): number[][] {
  const rows = readList(raw, path, Array.isArray, 'an array of numbers') as unknown[][];
  return rows.map((row, r) => (row.every(isNumber) ? row : readNumbers(row, `${path}[${r}]`)));
}

/** Numbers; null, where the service has none, becomes NaN. */
export function readNumbers(raw: unknown, path: string): number[] {
  const values = readList(raw, path, isNumberOrNull, 'a number');
  return values.includes(null) ? values.map((value) => value ?? NaN) : (values as number[]);
}

export function readList<T>(
  raw: unknown,
  path: string,
  is: (value: unknown) => value is T,
  what: string,
): T[] {
  if (!Array.isArray(raw)) {
    throw invalidPrediction(path, raw === undefined ? 'is missing' : 'must be an array');
  }
  const odd = raw.findIndex((value) => !is(value));
  if (odd >= 0) {
    throw invalidPrediction(`${path}[${odd}]`, `must be ${what}`);
  }
  return raw as T[];
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isNumberOrNull(value: unknown): value is number | null {
  return value === null || typeof value === 'number';
}
