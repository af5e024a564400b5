import type { Calibration } from '../calibration/calibrate';
import type { ResidualForest } from '../calibration/residuals';
import type { Encoder } from '../features/encode';
import type { FeatureColumn, FitReport, Label } from '../types';
import type { Background } from './background';
import type { LevelGrowth } from './growth';
import type { Member } from './members';

/** A fitted model. Plain data; `task`, `classes`, `features` and `report` are its public part. */
export interface Model {
  readonly task: 'classification' | 'regression';
  /** In the order of `TrainInput`; empty for regression. */
  readonly classes: Label[];
  readonly features: { name: string; kind: FeatureColumn['kind'] }[];
  readonly report: FitReport;
  encoders: Encoder[];
  members: Member[];
  /** Undefined for regression. */
  calibration: Calibration | undefined;
  /** If undefined, the answer is the most probable class. */
  threshold: { of: number; at: number } | undefined;
  /** A prediction is center + scale × the ensemble's mean. */
  center: number;
  scale: number;
  /** Set if a prediction is the logarithm of a change that grows with its level. */
  growth?: LevelGrowth;
  residuals: ResidualForest | undefined;
  /** The mean is that of the distribution. Missing in models fitted before: theirs is the ensemble's. */
  meanOfDistribution?: true;
  /** Borders of the buckets of the full distribution, in units of the target. */
  borders: Float64Array | undefined;
  /** Missing in models fitted before there was one. */
  background?: Background;
  /**
   * Columns × bins: the mean value of each bin, undefined for categories. Present only if a linear model is stored by
   * its terms.
   */
  centers?: (Float64Array | undefined)[];
}
