export { parseDuration, parseDurations, showDuration } from './durations';
export { timeColumnOf } from './intake';
export { openSeries } from './series';
export { parseSeriesSettings } from './settings';
export { readingsOf, type ReadingsOptions } from './table-readings';
export {
  type BroughtOutcome,
  EVENT_OPERATORS,
  type EventOperator,
  type PushOptions,
  type RowAddress,
  type Series,
  type SeriesCells,
  type SeriesNote,
  type SeriesOptions,
  type SeriesOutcome,
  type SeriesOutcomeKind,
  type SeriesProgress,
  type SeriesReading,
  type SeriesRow,
  type SeriesSettings,
  type SeriesStep,
  type SeriesSurroundings,
  type SeriesTrainSet,
  type TrainReason,
  type TrainSchedule,
} from './types';
