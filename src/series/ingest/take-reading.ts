import { isFuture, ofKey, timeInstead } from '../readings/time-and-key';
import type { PushOptions, SeriesReading, SeriesStep } from '../types';
import { acceptReading } from './accept-reading';
import type { SeriesParts } from './parts';
import { isYetToCome } from './plan-intake';

/**
 * Takes one live reading, or one row of a plan.
 *
 * @param options `arrival` is used where the reading has no time, or one in the future
 * @throws ServiceError time.invalid, columns.missing, limit.exceeded
 */
export async function takeReading(
  parts: SeriesParts,
  reading: SeriesReading,
  options: PushOptions & { arrival: number },
): Promise<SeriesStep> {
  const { settings, state, timeAndKey, builder, plans, now } = parts;
  const { arrival } = options;
  const column = options.time === undefined ? timeAndKey.timeColumn(reading) : settings.time;
  const mayBePlan = plans.hasOnlyKnownAhead(reading, timeAndKey.skips(column));
  const instant = mayBePlan ? timeAndKey.timeOf(reading, column, options, undefined) : undefined;
  const key = timeAndKey.keyOf(reading, options, undefined, instant !== undefined);
  // Checked before its columns are registered, since those stay for good.
  const isOfAll = key === null && settings.key !== undefined;
  state.checkKeys(isOfAll ? [] : [key]);
  const told = instant ?? timeAndKey.timeOf(reading, column, options, undefined) ?? arrival;
  const cells: number[] = [];
  const missing = state.sensors.read(reading, timeAndKey.skips(column), undefined, cells);
  const known = state.machines.get(key);
  if (instant !== undefined && (isOfAll || isYetToCome(told, arrival, state.newestOf(key), known))) {
    plans.take([{ key, time: told, cells }]);
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
        text: `A reading${ofKey(key)} is dated ${new Date(told).toISOString()}, which is in the future. The time of its arrival is used instead, as for others like it: set the clock of the machine.${plans.hint}`,
      },
      `future ${key}`,
    );
  }
  if (time < state.pending.watermark(machine)) {
    state.counts.late++;
    state.tellOnce(
      {
        kind: 'late',
        text: `A reading${ofKey(key)} of ${new Date(time).toISOString()} arrived after one of ${new Date(machine.newest).toISOString()} and is left out, as are others that arrive so late. Set Late to the longest delay, or reset the key if its clock was set back.`,
      },
      `late ${key}`,
    );
    return { rows: [], outcomes: [] };
  }
  const { isRow, released } = await acceptReading(parts, machine, time, cells);
  const reason = state.schedule.due(state.facts(now()));
  const trainSet = reason === undefined ? undefined : builder.trainSet(reason);
  const rows = isRow && state.isStarted ? builder.liveRows(machine, time) : [];
  const outcomes = released.map((row) => builder.outcomeOf(row));
  return { rows, outcomes, ...(trainSet !== undefined && { trainSet }) };
}
