/** What tests reach of src/watch: a file that moves there is renamed here, and nowhere else. */
export {
  type PredictionSeen,
  readStateLines,
  stateLines,
  Watch,
  type WatchChange,
  type WatchedModel,
  watchedModel,
  type WatchOptions,
  type WatchState,
} from '../../dist/src/watch';
export { BandCorrection } from '../../dist/src/watch/bands';
export { WeeklyPattern, type WeeklyPatternState } from '../../dist/src/watch/statistics';
