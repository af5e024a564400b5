import type { FeatureColumn, Label, TrainInput, TrainOptions } from '../../../dist/src/learner';
import { Random } from '../../doors/learner';

export const numbers = (name: string, values: Iterable<number>): FeatureColumn => ({
  name,
  kind: 'number',
  values: Float64Array.from(values),
});

export const dates = (name: string, values: Iterable<number>): FeatureColumn => ({
  name,
  kind: 'date',
  values: Float64Array.from(values),
});

/** A text column; undefined is missing. */
export function text(name: string, values: (string | undefined)[]): FeatureColumn {
  const dictionary = [...new Set(values.filter((value) => value !== undefined))];
  const codes = Int32Array.from(values, (value) => (value === undefined ? -1 : dictionary.indexOf(value)));
  return { name, kind: 'text', codes, dictionary };
}

/** Rows of a table: from the first number to before the second. */
export const rowsOf = (columns: FeatureColumn[], from: number, to: number): FeatureColumn[] =>
  columns.map((column) =>
    column.kind === 'text'
      ? { ...column, codes: column.codes.subarray(from, to) }
      : { ...column, values: column.values.subarray(from, to) },
  );

export function classify(features: FeatureColumn[], labels: Label[], options: TrainOptions = {}): TrainInput {
  const classes = [...new Set(labels)].sort();
  const codes = Int32Array.from(labels, (label) => classes.indexOf(label));
  return { features, target: { task: 'classification', classes, codes }, options };
}

export function regress(
  features: FeatureColumn[],
  values: Iterable<number>,
  options: TrainOptions = {},
): TrainInput {
  return { features, target: { task: 'regression', values: Float64Array.from(values) }, options };
}

/** `count` standard normal numbers. */
export function normals(count: number, seed: number): Float64Array {
  const random = new Random(seed, 77);
  return Float64Array.from({ length: count }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - random.uniform()));
    return radius * Math.cos(2 * Math.PI * random.uniform());
  });
}
