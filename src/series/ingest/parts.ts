import type { Journal } from '../journal/journal';
import type { Intake } from '../readings/intake';
import type { SeriesState } from '../state/state';
import type { SeriesSettings } from '../types';
import type { SeriesMaker } from './maker';
import type { PlanIntake } from './plan-intake';

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
