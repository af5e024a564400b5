import { Yielder } from '../util/event-loop';
import { Serial } from '../util/serial';
import { ServiceError } from '../wire/service-error';
import { backfill } from './ingest/backfill';
import { SeriesMaker } from './ingest/maker';
import type { SeriesParts } from './ingest/parts';
import { PlanIntake } from './ingest/plan-intake';
import { takeOutcome } from './ingest/take-outcome';
import { takeReading } from './ingest/take-reading';
import { Journal } from './journal/journal';
import { Intake } from './readings/intake';
import { SeriesState } from './state/state';
import type {
  BroughtOutcome,
  PushOptions,
  Series,
  SeriesProgress,
  SeriesReading,
  SeriesSettings,
  SeriesStep,
  SeriesSurroundings,
  SeriesTrainSet,
} from './types';

/** Opens a series; with a folder, where the last one with it stopped. Errors: `storage.failed` where that cannot be read now. */
export async function openSeries(
  settings: SeriesSettings,
  surroundings: SeriesSurroundings = {},
): Promise<Series> {
  const series = new LiveSeries(settings, surroundings);
  await series.open();
  return series;
}

class LiveSeries implements Series {
  private readonly parts: SeriesParts;
  private readonly serial = new Serial();
  private readonly yielder = new Yielder();

  constructor(
    readonly settings: SeriesSettings,
    { folder, now = Date.now, notify = () => undefined, writeEvery }: SeriesSurroundings,
  ) {
    const journal = new Journal(folder, notify, (work) => this.serial.run(work), writeEvery);
    const state = new SeriesState(settings, journal, notify);
    const intake = new Intake(settings);
    const maker = new SeriesMaker(state, now);
    const plans = new PlanIntake(state, journal);
    this.parts = { settings, state, intake, journal, maker, plans, now };
  }

  open(): Promise<void> {
    return this.serial.run(() => this.parts.journal.open(this.parts.state));
  }

  push(reading: SeriesReading, options: PushOptions = {}): Promise<SeriesStep> {
    return this.serial.run(async () => {
      const arrival = options.arrival ?? this.parts.now();
      const due = this.yielder.due();
      if (due !== undefined) {
        // Readings that come in a burst wait for each other, and nothing else for them.
        await due;
      }
      return takeReading(this.parts, reading, { ...options, arrival });
    });
  }

  async *backfill(
    readings: Iterable<SeriesReading> | AsyncIterable<SeriesReading>,
    options: PushOptions = {},
  ): AsyncGenerator<SeriesStep> {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    await new Promise<void>((begin) => {
      void this.serial.run(() => {
        begin();
        return ended;
      });
    });
    try {
      yield* backfill(this.parts, readings, options);
    } finally {
      await this.parts.journal.flush();
      end();
    }
  }

  outcome(brought: BroughtOutcome): Promise<SeriesStep> {
    return this.serial.run(() => takeOutcome(this.parts, brought));
  }

  train(reason: 'asked' | 'decay'): Promise<SeriesTrainSet | undefined> {
    return this.serial.run(() => {
      const { state } = this.parts;
      if (reason === 'decay' && !state.schedule.mayAnswerDecay(state.facts(this.parts.now()))) {
        state.schedule.decayWaits = true;
        this.parts.journal.scheduled(state);
        return undefined;
      }
      const trainSet = this.parts.maker.trainSet(reason);
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
      const { state } = this.parts;
      if (key === undefined) {
        state.forgetAll();
      } else {
        const machine = state.machines.get(key);
        if (machine !== undefined) {
          state.forget(machine, () => true);
        }
      }
      this.parts.journal.outdate();
      await this.parts.journal.flush();
    });
  }

  flush(): Promise<void> {
    return this.serial.run(() => this.parts.journal.flush());
  }

  close(): Promise<void> {
    return this.serial.run(() => this.parts.journal.close());
  }

  get progress(): SeriesProgress {
    const { state } = this.parts;
    const { kept, rarer, events } = state.facts(0);
    const { needed, trainSets, trainedAt, decayWaits } = state.schedule;
    return {
      keys: state.machines.size,
      ...state.counts,
      kept,
      needed: this.settings.outcome.kind === 'none' ? 0 : needed,
      ...(rarer !== undefined && { rarer }),
      ...(events !== undefined && { events }),
      started: state.isStarted,
      trainSets,
      ...(trainedAt !== undefined && { trainedAt }),
      decayWaits,
      columns: state.sensors.list.map(({ name }) => name),
      storage: this.parts.journal.health,
    };
  }
}
