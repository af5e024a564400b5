/** What tests reach of src/series: a file that moves there is renamed here, and nowhere else. */
export {
  openSeries,
  parseDuration,
  parseDurations,
  parseSeriesSettings,
  type Series,
  type SeriesCells,
  type SeriesNote,
  type SeriesOptions,
  type SeriesReading,
  type SeriesStep,
  type SeriesTrainSet,
  showDuration,
} from '../../dist/src/series';
export { sortByTime } from '../../dist/src/series/readings/sort-by-time';
export { Timeline } from '../../dist/src/series/readings/timeline';
export { Track } from '../../dist/src/series/readings/track';
export { isLessNow } from '../../dist/src/series/rows/column-names';
export {
  describeNumber,
  describeState,
  difference,
  EXACT,
  LEGIBLE,
} from '../../dist/src/series/rows/windows';
export { Schedule } from '../../dist/src/series/train-sets/schedule';
