import type { Journal } from '../journal/journal';
import type { TimeAndKey } from '../readings/time-and-key';
import type { SeriesState } from '../state/state';
import type { SeriesSettings } from '../types';
import type { PlanIntake } from './plan-intake';
import type { StepBuilder } from './step-builder';

/** The parts of a series, as everything that takes input needs them. */
export interface SeriesParts {
  readonly settings: SeriesSettings;
  readonly state: SeriesState;
  readonly timeAndKey: TimeAndKey;
  readonly journal: Journal;
  readonly builder: StepBuilder;
  readonly plans: PlanIntake;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}
