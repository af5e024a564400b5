import { DATE_PARTS } from '../../features/dates';
import { type ColumnSpec, columnSpecs, type Encoder } from '../../features/encode';
import { LEAF } from '../../trees/trees';
import type { FeatureColumn } from '../../types';
import { type Background, BACKGROUND_ROWS } from '../background';
import type { LevelGrowth } from '../growth';
import {
  areAscending,
  areFinite,
  areWithin,
  isArrayOf,
  isCount,
  isFiniteNumber,
  isRecord,
  must,
} from './soundness';

/** Far more features than any table has. */
const MOST_FEATURES = 16_384;
/** A bin is a byte, and two of them are for missing and for rare values. */
const MOST_NAMED = 254;

/** The binned columns of a model. */
export interface Columns {
  specs: ColumnSpec[];
  /** Per column, whether its values are known as numbers too. */
  hasNumbers: boolean[];
  /** Kinds of the features. */
  kinds: FeatureColumn['kind'][];
}

/** What an encoder may be of. */
const KINDS: Record<Encoder['type'], readonly FeatureColumn['kind'][]> = {
  number: ['number'],
  numberCategory: ['number'],
  between: ['number', 'date'],
  date: ['date'],
  category: ['text'],
  length: ['text'],
  numberInText: ['text'],
  tokens: ['text'],
};

/** Checks features and encoders, which may be anything. @throws LearnerError */
export function checkedColumns(features: unknown, encoders: unknown): Columns {
  must(Array.isArray(features) && features.length <= MOST_FEATURES, 'its features are no list');
  const kinds = features.map((feature: unknown) => {
    must(
      isRecord(feature) &&
        typeof feature.name === 'string' &&
        (feature.kind === 'number' || feature.kind === 'date' || feature.kind === 'text'),
      'a feature has no name or kind',
    );
    return feature.kind;
  });
  must(Array.isArray(encoders) && encoders.length < LEAF, 'its encoders are no list');
  let columns = 0;
  for (const encoder of encoders as unknown[]) {
    checkEncoder(encoder, kinds);
    columns += encoder.type === 'tokens' ? encoder.tokens.length : 1;
  }
  must(columns < LEAF, 'it has too many columns');
  const known = encoders as Encoder[];
  const specs = columnSpecs(known);
  const hasNumbers = known.flatMap((encoder) => {
    const has = encoder.type === 'number' || encoder.type === 'date';
    return encoder.type === 'tokens' ? encoder.tokens.map(() => has) : [has];
  });
  return { specs, hasNumbers, kinds };
}

function checkEncoder(value: unknown, kinds: FeatureColumn['kind'][]): asserts value is Encoder {
  const encoder = (isRecord(value) ? value : {}) as Partial<Encoder> & Record<string, unknown>;
  const { type, source, part } = encoder;
  must(typeof type === 'string' && Object.hasOwn(KINDS, type), 'an encoder is of no known type');
  must(isCount(source, kinds.length - 1), 'an encoder is of no feature');
  const kind = kinds[source];
  must(KINDS[type].includes(kind), 'an encoder is of a feature of another kind');
  if (type === 'category' || type === 'tokens') {
    const texts = encoder[type === 'category' ? 'values' : 'tokens'];
    const most = type === 'category' ? MOST_NAMED : LEAF;
    must(
      Array.isArray(texts) && texts.length <= most && texts.every((text) => typeof text === 'string'),
      'an encoder holds no texts',
    );
    return;
  }
  if (type === 'numberCategory') {
    const { values } = encoder;
    must(isArrayOf(Float64Array, values) && values.length <= MOST_NAMED, 'an encoder holds no numbers');
    return;
  }
  const { borders } = encoder;
  must(
    isArrayOf(Float64Array, borders) && borders.length <= MOST_NAMED && areAscending(borders),
    'the borders of a column do not ascend',
  );
  if (type === 'date' || type === 'between') {
    const isDate = (DATE_PARTS as readonly unknown[]).includes(part);
    must(kind === 'date' ? isDate : part === undefined, 'an encoder is of no part of a date');
  }
}

/** Checks the mean values of bins. @throws LearnerError */
export function checkCenters(centers: unknown, { specs }: Columns): void {
  must(
    centers === undefined || (Array.isArray(centers) && centers.length === specs.length),
    'the means of its bins are no list',
  );
  (centers ?? []).forEach((means: unknown, column) => {
    const isMissing = means === null || means === undefined;
    must(
      isMissing || (isArrayOf(Float64Array, means, specs[column].bins) && areFinite(means)),
      'the means of bins are no numbers',
    );
  });
}

/**
 * Checks the rows that explanations compare with.
 *
 * @param along columns that a line takes as numbers
 * @throws LearnerError
 */
export function checkBackground(value: unknown, { specs, kinds }: Columns, along: Iterable<number>): void {
  if (value === undefined) {
    return;
  }
  must(isRecord(value), 'its background is no rows');
  const { rows, columns, numbers, low, high, mean } = value as unknown as Background;
  must(isCount(rows, BACKGROUND_ROWS) && rows > 0, 'its background has no rows');
  must(Array.isArray(columns) && columns.length === specs.length, 'its background has other columns');
  columns.forEach((bins: unknown, column) =>
    must(
      isArrayOf(Uint8Array, bins, rows) && areWithin(bins, specs[column].bins - 1),
      'its background has bins that are not there',
    ),
  );
  must(
    numbers === undefined ||
      (Array.isArray(numbers) &&
        numbers.length === specs.length &&
        numbers.every((one: unknown) => one === null || isArrayOf(Float64Array, one, rows))),
    'its background has other numbers',
  );
  for (const column of along) {
    must(isArrayOf(Float64Array, numbers?.[column]), 'its background lacks the numbers of a line');
  }
  must(
    [low, high, mean].every((one: unknown) => isArrayOf(Float64Array, one, kinds.length)),
    'its background lacks what is usual',
  );
}

/** Checks how a change grows with its level. @throws LearnerError */
export function checkGrowth(value: unknown, { kinds }: Columns): void {
  if (value === undefined) {
    return;
  }
  const { level, floor, divided, smearing } = (isRecord(value) ? value : {}) as Partial<LevelGrowth>;
  must(
    isCount(level, kinds.length - 1) &&
      kinds[level] === 'number' &&
      isFiniteNumber(floor) &&
      floor > 0 &&
      isFiniteNumber(smearing) &&
      Array.isArray(divided) &&
      divided.length <= kinds.length &&
      divided.every((feature) => isCount(feature, kinds.length - 1)),
    'it grows with no level',
  );
}
