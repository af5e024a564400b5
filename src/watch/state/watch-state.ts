import type { AlarmsState } from '../alarms/alarms';
import type { ChangesState } from '../alarms/changes';
import type { WithoutTruthState } from '../drift/without-truth';
import type { GenerationsState } from '../models/generations';
import type { OpenState } from '../predictions/open-predictions';
import type { ExpectedLossState } from '../scores/expected-loss';
import type { ScoredModelState } from '../scores/scored-model';
import type { VersionScoresState } from '../scores/version-scores';
import type { SettledPrediction, WatchCounts } from '../types';

export type KeptCounts = Omit<WatchCounts, 'open' | 'early' | 'dropped' | 'unmet'>;

/** Everything a watch knows, as JSON. Open predictions are immutable, so a state may be written later. */
export interface WatchState extends GenerationsState, WithoutTruthState {
  v: 1;
  /** Time of the newest row, milliseconds since 1970. */
  latest?: number;
  counts: KeptCounts;
  open: OpenState;
  expected: ExpectedLossState;
  scored?: ScoredModelState;
  /** Missing in states of package versions that did not keep it. */
  versions?: VersionScoresState | undefined;
  alarms: AlarmsState;
  changes: ChangesState;
  recent: SettledPrediction[];
}
