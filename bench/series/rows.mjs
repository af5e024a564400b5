/* Rows that the series layer makes of the readings of a bench: the first part fitted, the later part scored. */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { openSeries, parseSeriesSettings } = require('../../dist/src/series');
const learner = require('../../dist/src/learner');

export const DAY = 86_400_000;

/** What the newest train set says of itself, and all rows with their outcome. */
export async function allOutcomes({ options, readings }) {
  const series = await openSeries(parseSeriesSettings({ timezone: 'UTC', ...options }), {
    now: () => Date.UTC(2100, 0, 1),
  });
  const { trainSet, outcomes } = await series.backfill(readings);
  return { trainSet, rows: outcomes.slice(0, outcomes.length) };
}

/** The train set of the readings before a time, and the rows with their outcome of those after. */
export async function seriesRows({ options, readings, border }) {
  const open = () =>
    openSeries(parseSeriesSettings({ timezone: 'UTC', ...options }), { now: () => Date.UTC(2100, 0, 1) });
  const [fitted, whole] = [await open(), await open()];
  const { trainSet } = await fitted.backfill(readings.filter((reading) => reading.time < border));
  const { outcomes } = await whole.backfill(readings);
  const later = outcomes.slice(0, outcomes.length).filter(({ series }) => series.time >= border);
  return { trainSet, train: await trainSet.rows(), later };
}

/** At most so many rows, evenly. */
export function thinned(rows, most) {
  const every = Math.max(1, Math.ceil(rows.length / most));
  return rows.filter((_, i) => i % every === 0);
}

function featureOf(name, rows, train) {
  const kinds = new Set(train.map((row) => typeof row[name]).filter((kind) => kind !== 'object'));
  if (kinds.has('string') || kinds.has('boolean')) {
    const words = [...new Set(train.map((row) => row[name]).filter((value) => value !== null))].map(String);
    const codes = Int32Array.from(rows, (row) =>
      row[name] === null ? -1 : words.indexOf(String(row[name])),
    );
    return { name, kind: 'text', dictionary: words, codes };
  }
  return { name, kind: 'number', values: Float64Array.from(rows, (row) => row[name] ?? NaN) };
}

/**
 * Fits the columns of a train set and predicts other rows: means (or probabilities of "yes") and quantiles, in the
 * units of the outcome.
 *
 * @param most rows to fit at most
 */
export function fitAndPredict({ trainSet, train, later, columns, most = 4000, relative = true }) {
  const { target, embargo, relative_to: relativeTo, group } = trainSet;
  const fitted = thinned(train, most);
  const isClass = typeof fitted[0][target] === 'string';
  const base = (row) => (relative && relativeTo !== undefined ? row[relativeTo] : 0);
  const rows = later.map(({ row }) => row);
  const features = (of) => columns.map((name) => featureOf(name, of, fitted));
  const share = fitted.length / train.length;
  const isRelative = relative && relativeTo !== undefined && !isClass && columns.includes(relativeTo);
  const config = {
    BLOCKS: 25,
    EMBARGO: Math.round(embargo * share),
    ...(group && { GROUP: group, GROUP_AS_FEATURE: false }),
    ...(isRelative && { RELATIVE_TO: relativeTo }),
  };
  const classes = ['no', 'yes'];
  const model = learner.trainModel({
    features: group ? [featureOf(group, fitted, fitted), ...features(fitted)] : features(fitted),
    target: isClass
      ? {
          task: 'classification',
          classes,
          codes: Int32Array.from(fitted, (row) => classes.indexOf(row[target])),
        }
      : { task: 'regression', values: Float64Array.from(fitted, (row) => row[target] - base(row)) },
    options: { inference_config: config },
  });
  const own = group ? [featureOf(group, rows, fitted), ...features(rows)] : features(rows);
  const result = learner.predict(model, own, rows.length);
  return { model, result, base: rows.map(base), truths: later.map(({ truth }) => truth), isClass };
}
