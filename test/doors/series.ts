/** What tests reach of src/series: a file that moves there is renamed here, and nowhere else. */
export {
  openSeries,
  parseDurations,
  parseSeriesSettings,
  type Series,
  type SeriesCells,
  type SeriesNote,
  type SeriesOptions,
  type SeriesReading,
  type SeriesStep,
  type SeriesTrainSet,
} from '../../dist/src/series';
export { isLessNow } from '../../dist/src/series/column-names';
export { sortByTime } from '../../dist/src/series/machine';
export { Timeline, Track } from '../../dist/src/series/track';
export { Schedule } from '../../dist/src/series/train-sets';
export { describeNumber, describeState, difference, EXACT, LEGIBLE } from '../../dist/src/series/windows';
