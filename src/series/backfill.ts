import { Yielder } from '../util/concurrency';
import { DAY } from '../util/durations';
import { type KeptRow, ROW_LEFT, ROW_STAYED } from './machine';
import { PastOutcomes, type PastReadings, PastRows, readPast, withHeld } from './past';
import { type SeriesState, turnToNumbers } from './state';
import { acceptReading, isSaid, isYetToCome, needsTime, type SeriesParts } from './take-reading';
import { noTime } from './time-and-key';
import type { BackfillOptions, PushOptions, SeriesPast, SeriesTable, TrainReason } from './types';

/** How far the clocks of a table may be ahead of ours. */
const TABLE_AHEAD_OF_US = DAY;

/**
 * Takes a table of past readings in order of event time.
 *
 * @throws ServiceError limit.exceeded, time.invalid, columns.missing
 */
export async function backfill(
  parts: SeriesParts,
  readings: SeriesTable,
  options: BackfillOptions,
): Promise<SeriesPast> {
  const { settings, state, journal, builder, plans } = parts;
  const { signal, most = Infinity } = options;
  const rows = new PastRows(state, most);
  const outcomes = new PastOutcomes((row) => builder.outcomeOf(row), state, rows, most);
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
        const time = timeAndKey.timeOf(reading, column, { time: told.time }, row);
        if (time === undefined) {
          if (!Object.entries(reading).some(([name, cell]) => !skips(name) && isSaid(cell))) {
            return undefined;
          }
          const key = timeAndKey.keyOf(reading, own, row, false);
          if (needsTime(state, state.machines.get(key), column !== undefined)) {
            throw noTime(column, row);
          }
          return { key, time, column, isPlan: false };
        }
        const part = plans.partOf(reading, skips);
        const planned = timeAndKey.keyOf(reading, own, row, true);
        const isPlan =
          part === 'only' ||
          (part === 'among' &&
            isYetToCome(time, arrival, state.newestOf(planned), state.machines.get(planned)));
        const key = isPlan ? planned : timeAndKey.keyOf(reading, own, row, false);
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
    state.isTimed ||= past.isTimed;
    if (past.crowded > 0) {
      state.tellOnce({
        kind: 'no time',
        text: `The table has ${past.crowded} rows and no time: they count as readings of now, a millisecond apart, in their order. Name the column of the time in the field Time.`,
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
