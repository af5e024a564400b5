export {
  type AlarmCause,
  type AlarmOptions,
  type ChangeKind,
  type ColumnDrift,
  type ColumnMove,
  type Coverage,
  type LiveLoss,
  type LossMeasure,
  type PredictionSeen,
  type PromisedScores,
  type SettledPrediction,
  type TruthAnswer,
  type TruthSeen,
  type VersionScore,
  type WatchAnswer,
  type WatchChange,
  type WatchCounts,
  type WatchedColumn,
  type WatchedModel,
  type WatchedRow,
  type WatchNumbers,
  type WatchOptions,
  type WatchReport,
} from './types';
export { Watch } from './watch';
export { readStateLines, stateLines, stateOfLines, type WatchState } from './watch';
export { watchedModel } from './watched-model';
