import { Serial, Yielder } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';
import { backfill } from './backfill';
import { Journal } from './journal';
import { SeriesState } from './state';
import { PlanIntake, type SeriesParts, StepBuilder, takeOutcome, takeReading } from './take-reading';
import { TimeAndKey } from './time-and-key';
import type {
  BackfillOptions,
  BroughtOutcome,
  PushOptions,
  Series,
  SeriesPast,
  SeriesProgress,
  SeriesReading,
  SeriesSettings,
  SeriesStep,
  SeriesSurroundings,
  SeriesTable,
  SeriesTrainSet,
} from './types';

/** Opens a series; with a folder, it continues where the last one stopped. Errors: `storage.failed` where that cannot be read now. */
export async function openSeries(
  settings: SeriesSettings,
  surroundings: SeriesSurroundings = {},
): Promise<Series> {
  const series = new LiveSeries(settings, surroundings);
  await series.open();
  return series;
}

class LiveSeries implements Series {
  private parts: SeriesParts;
  private readonly serial = new Serial();
  private readonly journal: Journal;
  private readonly yielder = new Yielder();

  constructor(
    readonly settings: SeriesSettings,
    private readonly surroundings: SeriesSurroundings,
  ) {
    const { folder, notify = () => undefined, writeEvery } = surroundings;
    this.journal = new Journal(folder, notify, (work) => this.serial.run(work), writeEvery);
    this.parts = this.emptyParts();
  }

  open(): Promise<void> {
    return this.serial.run(() => this.journal.open(this.parts.state));
  }

  push(reading: SeriesReading, options: PushOptions = {}): Promise<SeriesStep> {
    return this.serial.run(async () => {
      const arrival = options.arrival ?? this.parts.now();
      const due = this.yielder.due();
      if (due !== undefined) {
        // A burst of readings must not hold up the event loop.
        await due;
      }
      return takeReading(this.parts, reading, { ...options, arrival });
    });
  }

  backfill(readings: SeriesTable, options: BackfillOptions = {}): Promise<SeriesPast> {
    return this.serial.run(async () => {
      try {
        return await backfill(this.parts, readings, options);
      } finally {
        await this.journal.flush();
      }
    });
  }

  outcome(brought: BroughtOutcome): Promise<SeriesStep> {
    return this.serial.run(() => takeOutcome(this.parts, brought));
  }

  train(reason: 'asked' | 'decay'): Promise<SeriesTrainSet | undefined> {
    return this.serial.run(() => {
      const { state } = this.parts;
      if (reason === 'decay' && !state.schedule.mayAnswerDecay(state.facts(this.parts.now()))) {
        state.schedule.decayWaits = true;
        this.journal.scheduled(state);
        return undefined;
      }
      const trainSet = this.parts.builder.trainSet(reason);
      // Without another reading nothing else would be written, and a restart would wait for the first train set again.
      this.journal.scheduled(state);
      if (trainSet === undefined && reason === 'asked') {
        const { readings } = state.counts;
        throw new ServiceError(
          'table.empty',
          `There is no train set yet: of ${readings} readings no row has an outcome. Send readings until the outcome of the first ones is known.`,
        );
      }
      return trainSet;
    });
  }

  reset(key?: string): Promise<void> {
    return this.serial.run(async () => {
      if (key === undefined) {
        this.parts = this.emptyParts();
      } else {
        this.parts.state.forgetKey(key);
      }
      this.journal.replace(this.parts.state);
      await this.journal.flush();
    });
  }

  flush(): Promise<void> {
    return this.serial.run(() => this.journal.flush());
  }

  close(): Promise<void> {
    return this.serial.run(() => this.journal.close());
  }

  private emptyParts(): SeriesParts {
    const { settings, journal } = this;
    const { now = Date.now, notify = () => undefined } = this.surroundings;
    const state = new SeriesState(settings, journal, notify);
    const timeAndKey = new TimeAndKey(settings);
    const builder = new StepBuilder(state, now);
    const plans = new PlanIntake(state, journal);
    return { settings, state, timeAndKey, journal, builder, plans, now };
  }

  get waitsForDisk(): boolean {
    return this.journal.isSlow;
  }

  get progress(): SeriesProgress {
    const { state } = this.parts;
    const { kept, rarer, events } = state.facts(0);
    const { needed, trainSets, trainedAt, decayWaits } = state.schedule;
    const { outcome } = this.settings;
    const isSeen = !('column' in outcome) || state.sensors.list.some(({ name }) => name === outcome.column);
    return {
      keys: state.machines.size,
      ...state.counts,
      kept,
      needed: outcome.kind === 'none' ? 0 : needed,
      ...(rarer !== undefined && { rarer }),
      ...(events !== undefined && { events }),
      started: state.isStarted,
      trainSets,
      ...(trainedAt !== undefined && { trainedAt }),
      decayWaits,
      columns: state.sensors.list.filter(({ hasTurned }) => !hasTurned).map(({ name }) => name),
      ...(!isSeen && { unseenOutcome: outcome.column }),
      storage: this.journal.health,
    };
  }
}
