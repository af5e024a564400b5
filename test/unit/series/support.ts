import {
  openSeries,
  parseSeriesSettings,
  type Series,
  type SeriesCells,
  type SeriesNote,
  type SeriesOptions,
  type SeriesReading,
  type SeriesStep,
} from '../../doors/series';

export const SECOND = 1000;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** A Monday. */
export const START = Date.UTC(2026, 2, 2);

export interface Opened {
  series: Series;
  notes: SeriesNote[];
}

/** A series in memory whose clock stands long after its readings. */
export async function open(options: SeriesOptions, now = () => START + 1000 * DAY): Promise<Opened> {
  const notes: SeriesNote[] = [];
  const settings = parseSeriesSettings({ timezone: 'UTC', ...options });
  const series = await openSeries(settings, { now, notify: (note) => notes.push(note) });
  return { series, notes };
}

/** What comes of readings that are pushed one by one. */
export async function live(series: Series, readings: readonly SeriesReading[]): Promise<SeriesStep> {
  const all: SeriesStep = { rows: [], outcomes: [] };
  for (const reading of readings) {
    const step = await series.push(reading);
    all.rows.push(...step.rows);
    all.outcomes.push(...step.outcomes);
    all.trainSet ??= step.trainSet;
  }
  return all;
}

export async function backfill(series: Series, readings: readonly SeriesReading[]): Promise<SeriesStep> {
  const { rows, outcomes, trainSet } = await series.backfill(readings);
  return { rows: rows.slice(0, rows.length), outcomes: outcomes.slice(0, outcomes.length), trainSet };
}

export async function trainRows(series: Series): Promise<SeriesCells[]> {
  return (await (await series.train('asked'))?.rows()) ?? [];
}
