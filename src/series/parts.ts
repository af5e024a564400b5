import type { Intake } from './intake';
import type { Journal } from './journal';
import type { SeriesMaker } from './maker';
import type { PlanIntake } from './plan-intake';
import type { SeriesState } from './state';
import type { SeriesSettings } from './types';

/** What a series is made of: what takes something in has them all. */
export interface SeriesParts {
  readonly settings: SeriesSettings;
  readonly state: SeriesState;
  readonly intake: Intake;
  readonly journal: Journal;
  readonly maker: SeriesMaker;
  readonly plans: PlanIntake;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}
