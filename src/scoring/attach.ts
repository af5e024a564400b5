import type { Label, TableForm } from '../table';
import type { Prediction } from '../wire/prediction';
import { DEFAULT_QUANTILES } from '../wire/types';
import { ServiceError } from '../wire/service-error';
import { Yielder } from './yield';

type Row = Record<string, unknown>;

/** What one row gains: the value under `property`, and for probabilities a second column. */
export interface Attachment {
  property: string;
  rows: number;
  value: (row: number) => unknown;
  /** `{label: p}` under `<property>_probabilities`. */
  probabilities?: (row: number) => Record<string, number>;
}

/**
 * Reads a prediction as columns to attach. `classes` are the labels in the order of the
 * probabilities; without them a class is its index.
 */
export function attachmentOf(
  prediction: Prediction,
  property: string,
  classes: readonly Label[] | undefined,
): Attachment {
  switch (prediction.kind) {
    case 'labels':
    case 'numbers': {
      const { values } = prediction;
      return { property, rows: values.length, value: (row) => values[row] };
    }
    case 'probas': {
      const { values } = prediction;
      const label = (index: number): Label => classes?.[index] ?? index;
      return {
        property,
        rows: values.length,
        value: (row) => label(argmax(values[row]!)),
        probabilities: (row) => keyed(values[row]!, (index) => String(label(index))),
      };
    }
    case 'quantiles': {
      const { quantiles, values } = prediction;
      const names = quantiles.map(String);
      return {
        property,
        rows: values[0]?.length ?? 0,
        value: (row) => atRow(values, names, row),
      };
    }
    case 'full': {
      const { mean, median, mode, quantiles } = prediction.value;
      const names = quantiles.map((_, index) =>
        quantiles.length === DEFAULT_QUANTILES.length ? String(DEFAULT_QUANTILES[index]) : String(index),
      );
      return {
        property,
        rows: mean.length,
        value: (row) => ({
          mean: mean[row],
          median: median[row],
          mode: mode[row],
          quantiles: atRow(quantiles, names, row),
        }),
      };
    }
  }
}

/** Attaches to a row that is ours to change. */
export function attachInPlace(row: Row, index: number, attachment: Attachment): Row {
  put(row, attachment.property, attachment.value(index));
  if (attachment.probabilities !== undefined) {
    put(row, `${attachment.property}_probabilities`, attachment.probabilities(index));
  }
  return row;
}

/**
 * The table with the predictions attached, in the form that it came in: an object, an array of objects, an object of
 * columns, or a matrix with its header; `rows` reads any other form as row objects. What came in is not changed.
 */
export async function attach(
  value: unknown,
  form: TableForm,
  attachment: Attachment,
  rows: () => Promise<Row[]>,
): Promise<unknown> {
  switch (form) {
    case 'row':
      demandRows(1, attachment);
      return attachInPlace({ ...(value as Row) }, 0, attachment);
    case 'rows':
      return attachToRows(value as Row[], attachment);
    case 'columns':
      return attachToColumns(value as Row, attachment);
    case 'matrix':
      return attachToMatrix(value as unknown[][], attachment);
    default:
      return attachToRows(await rows(), attachment);
  }
}

async function attachToRows(rows: readonly Row[], attachment: Attachment): Promise<Row[]> {
  demandRows(rows.length, attachment);
  return sliced(rows.length, (index) => attachInPlace({ ...rows[index]! }, index, attachment));
}

async function attachToColumns(columns: Row, attachment: Attachment): Promise<Row> {
  const result = { ...columns };
  put(result, attachment.property, await sliced(attachment.rows, attachment.value));
  if (attachment.probabilities !== undefined) {
    put(
      result,
      `${attachment.property}_probabilities`,
      await sliced(attachment.rows, attachment.probabilities),
    );
  }
  return result;
}

async function attachToMatrix(matrix: readonly unknown[][], attachment: Attachment): Promise<unknown[][]> {
  const header = matrix[0] ?? [];
  demandRows(matrix.length - 1, attachment);
  const { property, value, probabilities } = attachment;
  const names = probabilities === undefined ? [property] : [property, `${property}_probabilities`];
  const rows = await sliced(attachment.rows, (index) => {
    const row = matrix[index + 1]!;
    const cells: unknown[] = [value(index)];
    if (probabilities !== undefined) {
      cells.push(probabilities(index));
    }
    const padding = new Array<unknown>(Math.max(0, header.length - row.length)).fill(null);
    return [...row, ...padding, ...cells];
  });
  return [[...header, ...names], ...rows];
}

/** `make` for each index, with turns of the event loop in between. */
async function sliced<Item>(count: number, make: (index: number) => Item): Promise<Item[]> {
  const items: Item[] = [];
  const yielder = new Yielder();
  for (let index = 0; index < count; index++) {
    items.push(make(index));
    if ((index & 255) === 255) {
      const turn = yielder.due();
      if (turn !== undefined) {
        await turn;
      }
    }
  }
  return items;
}

function demandRows(rows: number, attachment: Attachment): void {
  if (rows !== attachment.rows) {
    throw new ServiceError(
      'internal',
      `The table has ${rows} rows and the prediction ${attachment.rows}: they cannot be joined.`,
    );
  }
}

function atRow(values: readonly number[][], names: readonly string[], row: number): Record<string, number> {
  const result: Record<string, number> = {};
  for (let index = 0; index < names.length; index++) {
    result[names[index]!] = values[index]![row]!;
  }
  return result;
}

function keyed(values: readonly number[], name: (index: number) => string): Record<string, number> {
  const result: Record<string, number> = {};
  for (let index = 0; index < values.length; index++) {
    put(result, name(index), values[index]);
  }
  return result;
}

function argmax(values: readonly number[]): number {
  let best = 0;
  for (let index = 1; index < values.length; index++) {
    if (values[index]! > values[best]!) {
      best = index;
    }
  }
  return best;
}

/** Column names are data: `__proto__` too becomes a column. */
function put(target: Row, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  } else {
    target[key] = value;
  }
}
