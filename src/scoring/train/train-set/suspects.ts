import type { CategorySample, Column, ColumnSample, Label, NumberSample, TableSample } from '../../../table';
import type { Task } from '../../types';

/** Rows of a sample below which nothing is said of a column. */
const MIN_ROWS = 20;
/** Rows of the rarest label below which chance can make a column equal to the target. */
const MIN_LABEL_ROWS = 5;
/** How a column that only tells rows apart is called. */
const ID_NAME =
  /(?:^|[\s_.-])(?:id|uid|udi|uuid|guid|key|nr|no|number|index|row|serial)$|[a-z](?:Id|ID|Nr|No)$/i;
const UNCASED_ID = /(?:^|[\s_.-])(?:id|uid|udi|uuid|guid)(?:$|[\s_.-])/i;

/** Columns of a train set that it is better without, by its values alone. */
export interface Suspects {
  /** Each holds the target in other words. */
  copies: string[];
  /** Each only tells rows apart, and is named so where it holds numbers. */
  identifiers: string[];
  /** Each counts the rows, under another name. */
  counters: string[];
}

/** What is known of the columns of a sample: its features, and after them the target. */
interface Sampled {
  columns: readonly Column[];
  task: Task;
  group?: string;
  relativeTo?: string;
  order?: 'time' | 'none';
}

export function suspectsOf(set: Sampled, sample: TableSample): Suspects {
  const copies = copiesOfTarget(set, sample);
  const names = (isSuspect: (column: Column, sampled: ColumnSample) => boolean): string[] =>
    set.columns.flatMap((column, at) => {
      const { name } = column;
      const isLeft = sample.rows < MIN_ROWS || name === set.group || copies.includes(name);
      const sampled = sample.columns[at];
      return !isLeft && sampled !== undefined && isSuspect(column, sampled) ? [name] : [];
    });
  return {
    copies,
    identifiers: names(({ name, type }, sampled) =>
      sampled.kind === 'category'
        ? type === 'text' && isCode(sampled.cells) && isEachOther(sampled)
        : isIdName(name) &&
          isWhole(sampled) &&
          (counts(sampled) || (set.order !== 'time' && isUnique(sampled))),
    ),
    // Rows in order of time may have a clock that counts them.
    counters:
      set.order === 'time'
        ? []
        : names(({ name }, sampled) => sampled.kind === 'number' && !isIdName(name) && counts(sampled)),
  };
}

/** Columns that say in each sampled row what the target says. */
function copiesOfTarget({ task, relativeTo, columns }: Sampled, sample: TableSample): string[] {
  const truth = sample.columns[columns.length];
  if (truth === undefined || truth.cells.length < MIN_ROWS) {
    return [];
  }
  const isCopy = (column: ColumnSample): boolean =>
    task === 'classification' ? areOneToOne(column.cells, truth.cells) : isLine(column.cells, truth.cells);
  return columns
    .filter(({ name, type }, at) => {
      const column = sample.columns[at];
      // What grows evenly is a line of the time, and no copy of it.
      return type !== 'date' && name !== relativeTo && column !== undefined && isCopy(column);
    })
    .map(({ name }) => name);
}

type Cells = readonly (Label | null)[];

/** Each value stands beside one label only, and each label beside one value. */
function areOneToOne(cells: Cells, labels: Cells): boolean {
  const of = new Map<unknown, unknown>();
  const from = new Map<unknown, unknown>();
  const counts = new Map<unknown, number>();
  for (const [row, label] of labels.entries()) {
    const cell = cells[row];
    if ((of.has(cell) && of.get(cell) !== label) || (from.has(label) && from.get(label) !== cell)) {
      return false;
    }
    of.set(cell, label);
    from.set(label, cell);
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return counts.size > 1 && Math.min(...counts.values()) >= MIN_LABEL_ROWS;
}

/** The same number in all rows, or the same in another unit. */
function isLine(cells: Cells, truth: Cells): boolean {
  const pairs = cells.flatMap((cell, row): [number, number][] => {
    const value = truth[row];
    return typeof cell === 'number' && typeof value === 'number' ? [[cell, value]] : [];
  });
  const low = pairs.reduce((least, pair) => (pair[0] < least[0] ? pair : least), pairs[0] ?? [0, 0]);
  const high = pairs.reduce((most, pair) => (pair[0] > most[0] ? pair : most), low);
  const [width, rise] = [high[0] - low[0], high[1] - low[1]];
  if (pairs.length < MIN_ROWS || pairs.length < cells.length / 2 || width === 0 || rise === 0) {
    return false;
  }
  const different = new Set(pairs.map(([cell]) => cell)).size;
  return (
    different >= MIN_LABEL_ROWS &&
    pairs.every(([cell, value]) => {
      const expected = low[1] + ((cell - low[0]) / width) * rise;
      return Math.abs(value - expected) <= 1e-6 * Math.abs(rise);
    })
  );
}

const isIdName = (name: string): boolean => ID_NAME.test(name) || UNCASED_ID.test(name);

/** Dates are numbers too, but none of them counts in ones. */
const isWhole = ({ cells, missing }: NumberSample): boolean => missing === 0 && cells.every(Number.isInteger);

function isEachOther({ categories, counts: rows, complete, cells, missing }: CategorySample): boolean {
  const isDifferent = new Set(cells).size === cells.length;
  return (
    missing === 0 && isDifferent && (complete ? rows.every((count) => count === 1) : categories.length > 0)
  );
}

/** Words of a sentence or a name are no code. */
function isCode(cells: Cells): boolean {
  return cells.every((cell) => typeof cell === 'string' && !/\s/.test(cell.trim()));
}

/** Whole numbers of which each is one more than the one before. Of windows, only their beginnings are not. */
function counts({ values, missing }: NumberSample): boolean {
  let steps = 0;
  for (let row = 1; row < values.length; row++) {
    steps += values[row]! - values[row - 1]! === 1 ? 1 : 0;
  }
  return missing === 0 && values.length >= MIN_ROWS && steps >= 0.98 * (values.length - 1);
}

function isUnique({ values, cells }: NumberSample): boolean {
  const all = cells.length > values.length ? Float64Array.from(cells, Number) : values;
  return all.every(Number.isInteger) && new Set(all).size === all.length;
}
