export { readingsOf, type ReadingsOptions } from './readings/table-readings';
export { timeColumnOf } from './readings/time-and-key';
export { openSeries } from './series';
export { parseDuration, parseDurations, showDuration } from './settings/durations';
export { parseSeriesSettings } from './settings/settings';
export {
  type BackfillOptions,
  type BroughtOutcome,
  EVENT_OPERATORS,
  type EventOperator,
  type PackedList,
  PlacedReading,
  type PushOptions,
  type RowAddress,
  type Series,
  type SeriesCells,
  type SeriesNote,
  type SeriesOptions,
  type SeriesOutcome,
  type SeriesOutcomeKind,
  type SeriesPast,
  type SeriesProgress,
  type SeriesReading,
  type SeriesRow,
  type SeriesSettings,
  type SeriesStep,
  type SeriesSurroundings,
  type SeriesTable,
  type SeriesTrainSet,
  type TrainReason,
  type TrainSchedule,
} from './types';
