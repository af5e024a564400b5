import { show } from '../table';
import { Yielder } from '../util/event-loop';
import { Serial } from '../util/serial';
import { ServiceError } from '../wire/service-error';
import { Intake, isFuture, timeInstead } from './intake';
import { Journal } from './journal';
import type { Machine } from './machine';
import { SeriesMaker } from './maker';
import { readPast, withHeld } from './past-readings';
import { isYetToCome, PlanIntake } from './plan-intake';
import { SeriesState } from './state';
import type {
  BroughtOutcome,
  PushOptions,
  Series,
  SeriesOutcome,
  SeriesProgress,
  SeriesReading,
  SeriesSettings,
  SeriesStep,
  SeriesSurroundings,
  SeriesTrainSet,
} from './types';

/** Readings of a table that one step of a backfill has. */
const READINGS_PER_STEP = 256;
/** What the clocks of a table may be ahead of ours. */
const TABLE_AHEAD_OF_US = 86_400_000;

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
  private readonly state: SeriesState;
  private readonly intake: Intake;
  private readonly journal: Journal;
  private readonly serial = new Serial();
  private readonly yielder = new Yielder();
  private readonly maker: SeriesMaker;
  private readonly plans: PlanIntake;
  private readonly now: () => number;

  constructor(
    readonly settings: SeriesSettings,
    { folder, now = Date.now, notify = () => undefined, writeEvery }: SeriesSurroundings,
  ) {
    this.now = now;
    this.journal = new Journal(folder, notify, (work) => this.serial.run(work), writeEvery);
    this.state = new SeriesState(settings, this.journal, notify);
    this.intake = new Intake(settings);
    this.maker = new SeriesMaker(this.state, now);
    this.plans = new PlanIntake(this.state, this.journal);
  }

  open(): Promise<void> {
    return this.serial.run(() => this.journal.open(this.state));
  }

  push(reading: SeriesReading, options: PushOptions = {}): Promise<SeriesStep> {
    return this.serial.run(() => this.take(reading, options));
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
      yield* this.takeTable(readings, options);
    } finally {
      await this.journal.flush();
      end();
    }
  }

  outcome(brought: BroughtOutcome): Promise<SeriesStep> {
    return this.serial.run(() => this.takeOutcome(brought));
  }

  train(reason: 'asked' | 'decay'): Promise<SeriesTrainSet | undefined> {
    return this.serial.run(() => {
      const { state } = this;
      if (reason === 'decay' && !state.schedule.mayAnswerDecay(state.facts(this.now()))) {
        return undefined;
      }
      const trainSet = this.maker.trainSet(reason);
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
      const { state } = this;
      if (key === undefined) {
        state.forgetAll();
      } else {
        const machine = state.machines.get(key);
        if (machine !== undefined) {
          state.forget(machine, () => true);
        }
      }
      this.journal.outdate();
      await this.journal.flush();
    });
  }

  flush(): Promise<void> {
    return this.serial.run(() => this.journal.flush());
  }

  close(): Promise<void> {
    return this.serial.run(() => this.journal.close());
  }

  get progress(): SeriesProgress {
    const { state } = this;
    const { kept, rarer, events } = state.facts(0);
    const { needed, trainSets, trainedAt } = state.schedule;
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
      columns: state.sensors.list.map(({ name }) => name),
      storage: this.journal.health,
    };
  }

  private async take(reading: SeriesReading, options: PushOptions): Promise<SeriesStep> {
    const { state, intake } = this;
    const arrival = options.arrival ?? this.now();
    const due = this.yielder.due();
    if (due !== undefined) {
      // Readings that come in a burst wait for each other, and nothing else for them.
      await due;
    }
    const column = options.time === undefined ? intake.timeColumn(reading) : this.settings.time;
    const mayBePlan = this.plans.saysNothingElse(reading, this.skip(column));
    const instant = mayBePlan ? intake.timeOf(reading, column, options, undefined) : undefined;
    const key = intake.keyOf(reading, options, undefined, instant !== undefined);
    // Before its columns are known: they would be there for good.
    const isOfAll = key === null && this.settings.key !== undefined;
    state.checkKeys(isOfAll ? [] : [key]);
    const told = instant ?? intake.timeOf(reading, column, options, undefined) ?? arrival;
    const cells: number[] = [];
    const missing = state.sensors.read(reading, this.skip(column), undefined, cells);
    const known = state.machines.get(key);
    if (instant !== undefined && (isOfAll || isYetToCome(told, arrival, state.newestOf(key), known))) {
      this.plans.take([{ key, time: told, cells }]);
      return { rows: [], outcomes: [] };
    }
    const isAhead = isFuture(told, arrival, known);
    const time = isAhead ? timeInstead(arrival, known) : told;
    state.checkRoom(cells.length / 2, key, time);
    const machine = state.machine(key);
    state.counts.readings++;
    state.counts.cellsMissing += missing;
    if (isAhead) {
      state.counts.future++;
      state.tellOnce(
        {
          kind: 'future',
          text: `A reading${ofKey(key)} says ${new Date(told).toISOString()}, which has not come yet. It is taken at its arrival, and so are others like it: set the clock of the machine.${this.plans.hint}`,
        },
        `future ${key}`,
      );
    }
    if (time < state.ripening.watermark(machine)) {
      state.counts.late++;
      state.tellOnce(
        {
          kind: 'late',
          text: `A reading${ofKey(key)} of ${new Date(time).toISOString()} came after one of ${new Date(machine.newest).toISOString()} and is left out, as are others that come so late. Set Late to the longest delay, or reset the key if its clock was set back.`,
        },
        `late ${key}`,
      );
      return { rows: [], outcomes: [] };
    }
    const step = await this.accept(machine, time, cells);
    const reason = state.schedule.due(state.facts(this.now()));
    const trainSet = reason === undefined ? undefined : this.maker.trainSet(reason);
    const rows = step.isRow && state.isStarted ? this.maker.rowsOf(machine, time, true) : [];
    return { rows, outcomes: step.outcomes, ...(trainSet !== undefined && { trainSet }) };
  }

  private async accept(
    machine: Machine,
    time: number,
    cells: readonly number[],
  ): Promise<{ isRow: boolean; outcomes: SeriesOutcome[] }> {
    const { state } = this;
    const flag = time > machine.newest ? 1 : 0;
    const isNewest = state.put(machine, time, cells, flag);
    this.journal.reading(machine.key, time, flag, cells);
    if (!isNewest) {
      state.ripening.revise(machine, time);
    }
    const outcomes = isNewest ? await this.ripen(machine) : [];
    const isRow = isNewest && state.ripening.isRow(machine, machine.clock.size - 1);
    if (isRow && this.settings.outcome.kind === 'message') {
      this.wait(machine, time);
    }
    state.tidy(machine);
    return { isRow, outcomes };
  }

  private async *takeTable(
    readings: Iterable<SeriesReading> | AsyncIterable<SeriesReading>,
    options: PushOptions,
  ): AsyncGenerator<SeriesStep> {
    const { state, intake } = this;
    const arrival = options.arrival ?? this.now();
    const past = await readPast(readings, arrival + TABLE_AHEAD_OF_US, {
      place: (reading, row) => {
        const column = intake.timeColumn(reading);
        const time = intake.timeOf(reading, column, {}, row);
        const isPlan = time !== undefined && this.plans.saysNothingElse(reading, this.skip(column));
        return { key: intake.keyOf(reading, options, row, isPlan), time: time ?? arrival, column, isPlan };
      },
      newestOf: (key) => state.machines.get(key)?.newest ?? -Infinity,
      cells: (reading, row, column) => {
        const cells: number[] = [];
        state.counts.cellsMissing += state.sensors.read(reading, this.skip(column), row, cells);
        return cells;
      },
    });
    if (past.readings.length === 0 && past.plan.length > 0) {
      this.plans.take(past.plan);
      return;
    }
    state.checkKeys(new Set(past.readings.map(({ key }) => key)));
    state.counts.readings += past.readings.length;
    state.counts.future += past.future;
    if (past.future > 0) {
      state.tellOnce({
        kind: 'future',
        text: `${past.future} rows of the table have a time that has not come yet. They are left out.${this.plans.hint}`,
      });
    }
    this.journal.outdate();
    this.plans.takeOfTable(past.readings, past.plan);
    const all = await withHeld(state, past.readings);
    const yielder = new Yielder();
    let step: SeriesStep = { rows: [], outcomes: [] };
    for (const [i, { key, time, cells }] of all.entries()) {
      const machine = state.machine(key);
      state.checkRoom(cells.length / 2, key, time);
      const { isRow, outcomes } = await this.accept(machine, time, cells);
      step.rows.push(...(isRow ? this.maker.rowsOf(machine, time, false) : []));
      step.outcomes = step.outcomes.concat(outcomes);
      if (i % READINGS_PER_STEP === READINGS_PER_STEP - 1) {
        yield step;
        step = { rows: [], outcomes: [] };
      }
      await yielder.due();
    }
    const { kind } = this.settings.train;
    const reason = state.schedule.trainSets === 0 ? 'first' : 'rows';
    const trainSet = kind === 'never' ? undefined : this.maker.trainSet(reason);
    yield { ...step, ...(trainSet !== undefined && { trainSet }) };
  }

  private takeOutcome({ id, key, time, value }: BroughtOutcome): SeriesStep {
    const { state } = this;
    if (this.settings.outcome.kind !== 'message') {
      throw new ServiceError(
        'validation.failed',
        'The outcomes of this series come from its readings. Set Outcome to a message to bring them.',
      );
    }
    const truth = state.labels.codeOf(value);
    if (truth === undefined) {
      throw new ServiceError(
        'validation.failed',
        `The outcome ${show(value)} cannot be used. Give ${state.labels.expected}.`,
      );
    }
    const row =
      id === undefined
        ? state.waiting.takeAt(key ?? null, this.intake.instant(time))
        : state.waiting.take(id);
    if (row === undefined) {
      const which = id === undefined ? `${ofKey(key ?? null)} at ${show(time)}` : ` with the id ${show(id)}`;
      throw new ServiceError(
        'outcome.unknown',
        `No row${which} waits for an outcome: there was none, it has its outcome, or it is no longer among the newest ${this.settings.keep}. Give the msg.series.id of the row, or its key and time.`,
      );
    }
    const ripe = { ...row, truth };
    state.kept.add(ripe);
    this.journal.kept(ripe);
    state.counts.outcomes++;
    const reason = state.schedule.due(state.facts(this.now()));
    const trainSet = reason === undefined ? undefined : this.maker.trainSet(reason);
    return { rows: [], outcomes: [this.maker.outcomeOf(ripe)], ...(trainSet !== undefined && { trainSet }) };
  }

  private async ripen(machine: Machine): Promise<SeriesOutcome[]> {
    const { state } = this;
    const outcomes: SeriesOutcome[] = [];
    const yielder = new Yielder();
    for (const ripe of state.ripening.release(machine)) {
      state.counts.outcomes++;
      if (ripe.wasLive) {
        outcomes.push(this.maker.outcomeOf(ripe));
      }
      const due = yielder.due();
      if (due !== undefined) {
        await due;
      }
    }
    state.ripening.settle(machine);
    return outcomes;
  }

  private wait(machine: Machine, time: number): void {
    const { features, ripening, waiting } = this.state;
    const ahead = this.settings.aheads[0]!;
    const row = features.row(machine, ripening.base(machine, time), time, ahead);
    const one = { key: machine.key, time, ahead, row, truth: NaN };
    waiting.add(this.state.address(machine.key, time, ahead).id, one);
    this.journal.waiting(one);
  }

  private skip(timeColumn: string | undefined): (name: string) => boolean {
    const { key, time } = this.settings;
    return (name) => name === timeColumn || name === key || name === time;
  }
}

function ofKey(key: string | null): string {
  return key === null ? '' : ` of ${show(key)}`;
}
