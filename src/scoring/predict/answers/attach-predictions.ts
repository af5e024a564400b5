import { type Label, setCell as put, type TableForm } from '../../../table';
import { Yielder } from '../../../util/event-loop';
import { orNull, type Prediction } from '../../../wire/prediction';
import { ServiceError } from '../../../wire/service-error';
import { DEFAULT_QUANTILES, type Statistics } from '../../../wire/types';
import type { CausesOf } from '../../explain/causes';
import type { Unlike } from '../../unlike/unlike';
import { type AnsweredLabels, likeliest } from './answered-labels';
import type { FlatColumn } from './flat-columns';

type Row = Record<string, unknown>;

/** What one row gets: the value under `property` and, for probabilities, a second column. */
export interface Attachment {
  property: string;
  rows: number;
  value: (row: number) => unknown;
  /** `{label: p}` under `<property>_probabilities`. */
  probabilities?: (row: number) => Record<string, number>;
  /** Its causes, under `<property>_why`. */
  why?: CausesOf;
  /** How unlike the train set it is, under `<property>_unlike`. */
  unlike?: (row: number) => Unlike;
  /** The same as numbers of their own. */
  flat?: readonly FlatColumn[];
}

/**
 * Reads a prediction as columns to attach. `classes` are the labels in the order of the
 * probabilities; without them a class is its index. `answered`: the labels that a threshold answers.
 */
export function attachmentOf(
  prediction: Prediction,
  property: string,
  classes: readonly Label[] | undefined,
  answered?: AnsweredLabels,
): Attachment {
  switch (prediction.kind) {
    case 'labels': {
      const { values } = prediction;
      return { property, rows: values.length, value: (row) => values[row] };
    }
    case 'numbers': {
      const { values } = prediction;
      return { property, rows: values.length, value: (row) => orNull(values[row]!) };
    }
    case 'probas': {
      const { values } = prediction;
      const label = (index: number): Label => classes?.[index] ?? index;
      if (answered?.labelsOnly === true) {
        return attachmentOf(answered.labels, property, classes);
      }
      const own = answered?.labels.values;
      return {
        property,
        rows: values.length,
        value: (row) => (own === undefined ? label(likeliest(values[row]!)) : own[row]),
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
    case 'main':
      return statistics(prediction.value, prediction.quantiles.map(String), property);
    case 'full': {
      const { quantiles } = prediction.value;
      const names = quantiles.map((_, index) =>
        quantiles.length === DEFAULT_QUANTILES.length ? String(DEFAULT_QUANTILES[index]) : String(index),
      );
      return statistics(prediction.value, names, property);
    }
  }
}

function statistics(
  { mean, median, mode, quantiles }: Statistics,
  names: readonly string[],
  property: string,
): Attachment {
  return {
    property,
    rows: mean.length,
    value: (row) => ({
      mean: orNull(mean[row]!),
      median: orNull(median[row]!),
      mode: orNull(mode[row]!),
      quantiles: atRow(quantiles, names, row),
    }),
  };
}

/** Attaches to a row. */
export function attachInPlace(row: Row, index: number, attachment: Attachment): Row {
  put(row, attachment.property, attachment.value(index));
  if (attachment.probabilities !== undefined) {
    put(row, `${attachment.property}_probabilities`, attachment.probabilities(index));
  }
  if (attachment.why !== undefined) {
    put(row, `${attachment.property}_why`, attachment.why(index, ownCell(row)));
  }
  if (attachment.unlike !== undefined) {
    put(row, `${attachment.property}_unlike`, attachment.unlike(index));
  }
  if (attachment.flat !== undefined) {
    for (const { name, value } of attachment.flat) {
      put(row, name, value(index));
    }
  }
  return row;
}

/**
 * Attaches the predictions to a table that is ours to change (`OwnCopy`), in the form that it came in: an object, an
 * array of objects, an object of columns, or a matrix with its header; `rows` reads any other form as row objects.
 * A column of that name, such as one from an earlier prediction, is replaced in every form.
 */
export async function attach(
  value: unknown,
  form: TableForm,
  attachment: Attachment,
  rows: () => Promise<Row[]>,
): Promise<unknown> {
  switch (form) {
    case 'row':
      assertRows(1, attachment);
      return attachInPlace(value as Row, 0, attachment);
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

async function attachToRows(rows: Row[], attachment: Attachment): Promise<Row[]> {
  assertRows(rows.length, attachment);
  await inSlices(rows.length, (index) => attachInPlace(rows[index]!, index, attachment));
  return rows;
}

async function attachToColumns(columns: Row, attachment: Attachment): Promise<Row> {
  const { property, rows, value, probabilities, why, unlike, flat = [] } = attachment;
  const values: unknown[] = [];
  await inSlices(rows, (index) => values.push(value(index)));
  put(columns, property, values);
  if (probabilities !== undefined) {
    const shares: unknown[] = [];
    await inSlices(rows, (index) => shares.push(probabilities(index)));
    put(columns, `${property}_probabilities`, shares);
  }
  if (why !== undefined) {
    const causes: unknown[] = [];
    const cellsOf = ownCell(columns);
    await inSlices(rows, (index) =>
      causes.push(why(index, (column) => (cellsOf(column) as ArrayLike<unknown> | undefined)?.[index])),
    );
    put(columns, `${property}_why`, causes);
  }
  if (unlike !== undefined) {
    const compared: unknown[] = [];
    await inSlices(rows, (index) => compared.push(unlike(index)));
    put(columns, `${property}_unlike`, compared);
  }
  for (const { name, value: own } of flat) {
    const numbers: unknown[] = [];
    await inSlices(rows, (index) => numbers.push(own(index)));
    put(columns, name, numbers);
  }
  return columns;
}

async function attachToMatrix(matrix: unknown[][], attachment: Attachment): Promise<unknown[][]> {
  assertRows(matrix.length - 1, attachment);
  const { property, rows, value, probabilities, why, unlike, flat = [] } = attachment;
  const header = [...matrix[0]!];
  const at = columnAt(matrix[0]!, property);
  const atShares = probabilities === undefined ? -1 : columnAt(matrix[0]!, `${property}_probabilities`);
  const atCauses = why === undefined ? -1 : columnAt(matrix[0]!, `${property}_why`);
  const atUnlike = unlike === undefined ? -1 : columnAt(matrix[0]!, `${property}_unlike`);
  const atFlat = flat.map(({ name }) => columnAt(matrix[0]!, name));
  await inSlices(rows, (index) => {
    const row = matrix[index + 1]!;
    row[at] = value(index);
    if (probabilities !== undefined) {
      row[atShares] = probabilities(index);
    }
    if (why !== undefined) {
      row[atCauses] = why(index, (column) => row[header.indexOf(column)]);
    }
    if (unlike !== undefined) {
      row[atUnlike] = unlike(index);
    }
    flat.forEach(({ value: own }, place) => {
      row[atFlat[place]!] = own(index);
    });
  });
  return matrix;
}

/** The index of a column; a new one is added at the end of the header. */
function columnAt(header: unknown[], name: string): number {
  const at = header.indexOf(name);
  return at === -1 ? header.push(name) - 1 : at;
}

/** `work` for each index, with turns of the event loop in between. */
async function inSlices(count: number, work: (index: number) => unknown): Promise<void> {
  const yielder = new Yielder();
  for (let index = 0; index < count; index++) {
    work(index);
    if ((index & 255) === 255) {
      const turn = yielder.due();
      if (turn !== undefined) {
        await turn;
      }
    }
  }
}

function assertRows(rows: number, attachment: Attachment): void {
  if (rows !== attachment.rows) {
    throw new ServiceError(
      'internal',
      `The table has ${rows} rows and the prediction ${attachment.rows}: they cannot be joined.`,
    );
  }
}

function atRow(
  values: readonly number[][],
  names: readonly string[],
  row: number,
): Record<string, number | null> {
  const result: Record<string, number | null> = {};
  for (let index = 0; index < names.length; index++) {
    result[names[index]!] = orNull(values[index]![row]!);
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

/** The value of a row in a column, whose name may be any text. */
function ownCell(row: Row): (column: string) => unknown {
  return (column) => (Object.hasOwn(row, column) ? row[column] : undefined);
}
