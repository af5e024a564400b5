import type { Machine } from '../readings/machine';
import { isFuture, nearOf, noTime, ofKey, timeInstead } from '../readings/time-and-key';
import type { SeriesState } from '../state/state';
import { turnToNumbers } from '../state/turn-to-numbers';
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
  const { settings, state, timeAndKey, journal, builder, plans, now } = parts;
  const { arrival } = options;
  const column = options.time === undefined ? timeAndKey.timeColumn(reading) : settings.time;
  const skips = timeAndKey.skips(column);
  const told = timeAndKey.timeOf(reading, column, options, undefined);
  const part = told === undefined ? undefined : plans.partOf(reading, skips);
  if (told !== undefined && part !== undefined) {
    const key = timeAndKey.keyOf(reading, options, undefined, true);
    const isOfAll = part === 'only' && key === null && settings.key !== undefined;
    if (isOfAll || isYetToCome(told, arrival, state.newestOf(key), state.machines.get(key))) {
      state.checkKeys(isOfAll || key === null ? [] : [key]);
      const cells: number[] = [];
      state.sensors.read(reading, (name) => skips(name) || plans.skips(name), undefined, cells);
      plans.take([{ key, time: told, cells }]);
      return { rows: [], outcomes: [] };
    }
  }
  const key = timeAndKey.keyOf(reading, options, undefined, false);
  // Checked before its columns are registered, since those stay for good.
  state.checkKeys([key]);
  const known = state.machines.get(key);
  if (told === undefined && needsTime(state, known, column !== undefined)) {
    throw noTime(column, undefined);
  }
  const cells: number[] = [];
  const missing = state.sensors.read(reading, skips, undefined, cells);
  const isAhead = told !== undefined && isFuture(told, arrival, known);
  const instead = isAhead ? timeInstead(arrival, known) : arrival;
  state.checkRoom(cells.length / 2, key, isAhead ? instead : (told ?? arrival));
  const machine = state.machine(key);
  if (turnToNumbers(state, [cells])) {
    journal.outdate();
  }
  const time =
    told === undefined ? machine.timeOfArrival(arrival) : isAhead ? machine.firstFree(instead) : told;
  state.counts.readings++;
  state.counts.cellsMissing += missing;
  if (told !== undefined && !isAhead) {
    state.isTimed = true;
    machine.delay = arrival - told;
  }
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

/**
 * Whether a reading without a time is an error: its column of the time is empty where other readings have one, or the
 * clock of its machine is not ours, so that the time of its arrival would make all others late.
 */
export function needsTime(state: SeriesState, machine: Machine | undefined, hasColumn: boolean): boolean {
  return (hasColumn && state.isTimed) || Math.abs(machine?.delay ?? NaN) > nearOf(machine);
}
