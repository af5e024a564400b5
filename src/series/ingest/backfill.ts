import { Yielder } from '../../util/event-loop';
import type { PushOptions, SeriesReading, SeriesStep } from '../types';
import { acceptReading } from './accept-reading';
import type { SeriesParts } from './parts';
import { type PastReadings, readPast, withHeld } from './past-readings';

/** Readings of a table per step. */
const READINGS_PER_STEP = 256;
/** How far the clocks of a table may be ahead of ours. */
const TABLE_AHEAD_OF_US = 86_400_000;

/**
 * Takes a table of past readings in order of event time. The last step has the train set.
 *
 * @throws ServiceError limit.exceeded, time.invalid, columns.missing
 */
export async function* backfill(
  parts: SeriesParts,
  readings: Iterable<SeriesReading> | AsyncIterable<SeriesReading>,
  options: PushOptions,
): AsyncGenerator<SeriesStep> {
  const { settings, state, journal, builder, plans } = parts;
  const past = await readTable(parts, readings, options);
  if (past.readings.length === 0 && past.plan.length > 0) {
    plans.take(past.plan);
    return;
  }
  state.counts.readings += past.readings.length;
  state.counts.future += past.future;
  if (past.future > 0) {
    state.tellOnce({
      kind: 'future',
      text: `${past.future} rows of the table are dated in the future. They are left out.${plans.hint}`,
    });
  }
  journal.outdate();
  plans.takeOfTable(past.readings, past.plan);
  const all = await withHeld(state, past.readings);
  const yielder = new Yielder();
  let step: SeriesStep = { rows: [], outcomes: [] };
  for (const [i, { key, time, cells }] of all.entries()) {
    const machine = state.machine(key);
    state.checkRoom(cells.length / 2, key, time);
    const { isRow, outcomes } = await acceptReading(parts, machine, time, cells);
    step.rows.push(...(isRow ? builder.rowsOf(machine, time, false) : []));
    step.outcomes = step.outcomes.concat(outcomes);
    if (i % READINGS_PER_STEP === READINGS_PER_STEP - 1) {
      yield step;
      step = { rows: [], outcomes: [] };
    }
    await yielder.due();
  }
  const { kind } = settings.train;
  const reason = state.schedule.trainSets === 0 ? 'first' : 'rows';
  const trainSet = kind === 'never' ? undefined : builder.trainSet(reason);
  yield { ...step, ...(trainSet !== undefined && { trainSet }) };
}

/** Reads and checks a whole table. One that is refused leaves no columns behind, since those would stay for good. */
async function readTable(
  { state, timeAndKey, journal, plans, now }: SeriesParts,
  readings: Iterable<SeriesReading> | AsyncIterable<SeriesReading>,
  options: PushOptions,
): Promise<PastReadings> {
  const arrival = options.arrival ?? now();
  const columns = state.sensors.mark();
  let cellsMissing = 0;
  try {
    const past = await readPast(readings, arrival + TABLE_AHEAD_OF_US, {
      place: (reading, row) => {
        const column = timeAndKey.timeColumn(reading);
        const time = timeAndKey.timeOf(reading, column, {}, row);
        const isPlan = time !== undefined && plans.hasOnlyKnownAhead(reading, timeAndKey.skips(column));
        return {
          key: timeAndKey.keyOf(reading, options, row, isPlan),
          time: time ?? arrival,
          column,
          isPlan,
        };
      },
      newestOf: (key) => state.machines.get(key)?.newest ?? -Infinity,
      cells: (reading, row, column) => {
        const cells: number[] = [];
        cellsMissing += state.sensors.read(reading, timeAndKey.skips(column), row, cells);
        return cells;
      },
    });
    state.checkKeys(new Set(past.readings.map(({ key }) => key)));
    plans.checkRoom(past.plan);
    state.counts.cellsMissing += cellsMissing;
    return past;
  } catch (error) {
    if (state.sensors.rollBack(columns)) {
      journal.outdate();
    }
    throw error;
  }
}
