import type { AlarmsState } from './alarms';
import type { ChangesState } from './changes';
import type { DriftState } from './drift';
import type { ExpectedLossState } from './expected-loss';
import type { OpenState } from './open-predictions';
import type { ScoredModelState } from './scored-model';
import type { SilenceState } from './silence';
import type { SettledPrediction, WatchCounts, WatchedModel } from './types';

export type KeptCounts = Omit<WatchCounts, 'open' | 'early' | 'dropped' | 'unmet'>;

/** All that a watch knows, as JSON takes it. What waits for its truth is never changed, so it may be written later. */
export interface WatchState {
  v: 1;
  model: WatchedModel;
  generation: number;
  former: [generation: number, model: WatchedModel][];
  /** Time of the newest row, milliseconds since 1970. */
  latest?: number;
  counts: KeptCounts;
  open: OpenState;
  expected: ExpectedLossState;
  scored?: ScoredModelState;
  alarms: AlarmsState;
  silence: SilenceState;
  silent: boolean;
  drift: DriftState;
  /** What was told of it last. */
  drifted: boolean;
  changes: ChangesState;
  recent: SettledPrediction[];
}
