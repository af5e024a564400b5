import { Serial, Yielder } from '../util/concurrency';
import { DAY } from '../util/durations';
import { ServiceError } from '../wire/service-error';
import { Journal } from './journal';
import { type KeptRow, ROW_LEFT, ROW_STAYED } from './machine';
import { PastOutcomes, type PastReadings, PastRows, readPast, withHeld } from './past';
import { SeriesState, turnToNumbers } from './state';
import {
  acceptReading,
  isSaid,
  isYetToCome,
  needsTime,
  PlanIntake,
  type SeriesParts,
  StepBuilder,
  takeOutcome,
  takeReading,
} from './take-reading';
import { noTime, TimeAndKey } from './time-and-key';
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
  TrainReason,
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

/** How far the clocks of a table may be ahead of ours. */
const TABLE_AHEAD_OF_US = DAY;
/** One row in so many of a table may have other values than another of its time, as at the end of summer time, before it is told. */
const MANY_REPLACED = 20;

/**
 * Takes a table of past readings in order of event time.
 *
 * @throws ServiceError limit.exceeded, time.invalid, columns.missing
 */
async function backfill(
  parts: SeriesParts,
  readings: SeriesTable,
  options: BackfillOptions,
): Promise<SeriesPast> {
  const { settings, state, journal, builder, plans } = parts;
  const { signal, most = Infinity } = options;
  const rows = new PastRows(state, most);
  const outcomes = new PastOutcomes((row) => builder.makeOutcome(row), state, rows, most);
  const past = await readTable(parts, readings, options);
  if (past.readings.length === 0 && past.plan.length > 0) {
    plans.take(past.plan);
    return { rows, outcomes };
  }
  state.counts.readings += past.readings.length;
  state.counts.future += past.future;
  if (past.future > 0) {
    state.tellOnce({
      kind: 'future',
      text: `${past.future} rows of the table are dated in the future. They are left out.${plans.hint}`,
    });
  }
  turnToNumbers(
    state,
    [...past.readings, ...past.plan].map(({ cells }) => cells),
  );
  journal.outdate();
  plans.takeOfTable(past.readings, past.plan);
  const isAll = settings.send === 'all';
  const merged = await withHeld(state, past.readings);
  const yielder = new Yielder();
  for (const { key, time, cells, flag } of merged.readings) {
    const machine = state.machine(key);
    state.checkRoom(cells.length / 2, key, time);
    const leaves = isAll || flag === ROW_LEFT;
    const accepted = await acceptReading(parts, machine, { time, cells }, leaves ? ROW_LEFT : ROW_STAYED);
    if (isAll && accepted.isRow) {
      builder.addPastRows(rows, machine, time);
    }
    for (const row of accepted.released) {
      if (isAll || !wasReleased(merged.released.get(key), row, settings.aheads)) {
        outcomes.add(row);
      }
    }
    await yielder.due();
    signal?.throwIfAborted();
  }
  keepFormer(state, merged.former);
  if (!isAll) {
    addNewestRows(parts, rows, new Set(past.readings.map(({ key }) => key)));
  }
  const reason = reasonToTrain(parts, past.readings.length);
  const trainSet = reason === undefined ? undefined : builder.trainSet(reason);
  return { rows, outcomes, ...(trainSet !== undefined && { trainSet }) };
}

/** Why a table gives a train set; one of few rows, as a query for what is new, gives one as live readings do. */
function reasonToTrain({ settings, state, now }: SeriesParts, rows: number): TrainReason | undefined {
  const { schedule } = state;
  if (settings.shape === 'auto' && schedule.areFew(rows)) {
    return schedule.due(state.facts(now()));
  }
  return settings.train.kind === 'never' ? undefined : schedule.trainSets === 0 ? 'first' : 'rows';
}

/** Keeps rows that a table with gaps did not give again: those at the edge of a gap have no outcome by it. */
function keepFormer(state: SeriesState, former: readonly KeptRow[]): void {
  if (former.length === 0) {
    return;
  }
  const id = ({ key, time, ahead }: KeptRow): string => state.address(key, time, ahead).id;
  const given = new Set(Array.from(state.kept, id));
  for (const key of new Set(former.map((row) => row.key))) {
    for (const row of state.machines.get(key)!.unsettled.flat()) {
      given.add(id(row));
    }
  }
  for (const row of former) {
    if (!given.has(id(row))) {
      state.kept.add(row);
    }
  }
}

/** Whether the outcome of a row had been released before its machine started over. */
function wasReleased(
  released: readonly number[] | undefined,
  { time, ahead }: KeptRow,
  aheads: readonly number[],
): boolean {
  return released !== undefined && time <= released[aheads.indexOf(ahead)]!;
}

/** The newest row of each key leaves: its outcome will leave too. */
function addNewestRows(
  { state, builder }: SeriesParts,
  rows: PastRows,
  keys: ReadonlySet<string | null>,
): void {
  for (const key of keys) {
    const machine = state.machines.get(key)!;
    const { clock } = machine;
    let index = clock.size - 1;
    while (index > 0 && !state.pending.isRow(machine, index)) {
      index--;
    }
    const time = clock.time(index);
    clock.put(time, ROW_LEFT);
    builder.addPastRows(rows, machine, time);
    const waiting = state.waiting.get(state.address(key, time, 0).id);
    if (waiting !== undefined) {
      waiting.hasLeft = true;
    }
  }
}

/** Whether the newest readings of a machine are of a table without times, a millisecond apart. */
function hasCrowded(state: SeriesState): boolean {
  return [...state.machines.values()].some(
    ({ clock }) => clock.size > 1 && clock.time(clock.size - 1) - clock.time(clock.size - 2) === 1,
  );
}

/** Reads and checks a whole table. One that is refused leaves no columns behind, since those would stay for good. */
async function readTable(
  { settings, state, timeAndKey, journal, plans, now }: SeriesParts,
  readings: SeriesTable,
  options: PushOptions,
): Promise<PastReadings> {
  const arrival = options.arrival ?? now();
  const columns = state.sensors.mark();
  let cellsMissing = 0;
  try {
    const past = await readPast(readings, arrival, arrival + TABLE_AHEAD_OF_US, {
      place: (reading, row, told) => {
        const own = told.key === undefined ? options : { ...options, key: told.key };
        const column = told.time === undefined ? timeAndKey.timeColumn(reading) : settings.time;
        const skips = timeAndKey.skips(column);
        const time = timeAndKey.readTime(reading, column, { time: told.time }, row);
        if (time === undefined) {
          if (!Object.entries(reading).some(([name, cell]) => !skips(name) && isSaid(cell))) {
            return undefined;
          }
          const key = timeAndKey.readKey(reading, own, row, false);
          if (needsTime(state, state.machines.get(key), column !== undefined)) {
            throw noTime(column, row);
          }
          return { key, time, column, isPlan: false };
        }
        const part = plans.readPlanPart(reading, skips);
        const planned = timeAndKey.readKey(reading, own, row, true);
        const isPlan =
          part === 'only' ||
          (part === 'among' &&
            isYetToCome(time, arrival, state.findNewest(planned), state.machines.get(planned)));
        const key = isPlan ? planned : timeAndKey.readKey(reading, own, row, false);
        return { key, time, column, isPlan };
      },
      newestOf: (key) => state.machines.get(key)?.newest ?? -Infinity,
      cells: (reading, row, column, isPlan) => {
        const skips = timeAndKey.skips(column);
        const cells: number[] = [];
        cellsMissing += state.sensors.read(
          reading,
          isPlan ? (name) => skips(name) || plans.skips(name) : skips,
          row,
          cells,
        );
        return cells;
      },
    });
    state.checkKeys(new Set(past.readings.map(({ key }) => key)));
    plans.checkRoom(past.plan);
    if (past.isTimed && !state.isTimed && hasCrowded(state)) {
      state.tellOnce({
        kind: 'no time',
        text: 'These rows have a time; the table before them had none, so its rows count as readings of when it came, newer than these. If you have set the field Time since, send msg.reset to forget everything kept so far, then the table again.',
      });
    }
    state.isTimed ||= past.isTimed;
    if (past.crowded > 0) {
      state.tellOnce({
        kind: 'no time',
        text: `The table has ${past.crowded} rows and no time: they count as readings of now, a millisecond apart, in their order. Name the column of the time in the field Time.`,
      });
    }
    if (past.replaced * MANY_REPLACED > past.readings.length) {
      state.tellOnce({
        kind: 'same time',
        text: `${past.replaced} of ${past.readings.length} rows of the table have the time of another row${settings.key === undefined ? '' : ' of their key'}, with other values in the same columns: of each time only the last values count. If the rows are of several machines, name the column that tells them apart in the field Key; if the time of day stands in a column of its own, join it with the date.`,
      });
    }
    state.counts.cellsMissing += cellsMissing;
    return past;
  } catch (error) {
    if (state.sensors.rollBack(columns)) {
      journal.outdate();
    }
    throw error;
  }
}
