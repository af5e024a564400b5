import { isFuture, ofKey, timeInstead } from '../readings/intake';
import type { PushOptions, SeriesReading, SeriesStep } from '../types';
import { acceptReading } from './accept-reading';
import type { SeriesParts } from './parts';
import { isYetToCome } from './plan-intake';

/**
 * Takes one reading as it comes, or a part of a plan.
 *
 * @param options `arrival` counts where the reading has no time, or one that has not come
 * @throws ServiceError time.invalid, columns.missing, limit.exceeded
 */
export async function takeReading(
  parts: SeriesParts,
  reading: SeriesReading,
  options: PushOptions & { arrival: number },
): Promise<SeriesStep> {
  const { settings, state, intake, maker, plans, now } = parts;
  const { arrival } = options;
  const column = options.time === undefined ? intake.timeColumn(reading) : settings.time;
  const mayBePlan = plans.saysNothingElse(reading, intake.skips(column));
  const instant = mayBePlan ? intake.timeOf(reading, column, options, undefined) : undefined;
  const key = intake.keyOf(reading, options, undefined, instant !== undefined);
  // Before its columns are known: they would be there for good.
  const isOfAll = key === null && settings.key !== undefined;
  state.checkKeys(isOfAll ? [] : [key]);
  const told = instant ?? intake.timeOf(reading, column, options, undefined) ?? arrival;
  const cells: number[] = [];
  const missing = state.sensors.read(reading, intake.skips(column), undefined, cells);
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
        text: `A reading${ofKey(key)} says ${new Date(told).toISOString()}, which has not come yet. It is taken at its arrival, and so are others like it: set the clock of the machine.${plans.hint}`,
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
  const step = await acceptReading(parts, machine, time, cells);
  const reason = state.schedule.due(state.facts(now()));
  const trainSet = reason === undefined ? undefined : maker.trainSet(reason);
  const rows = step.isRow && state.isStarted ? maker.rowsOf(machine, time, true) : [];
  return { rows, outcomes: step.outcomes, ...(trainSet !== undefined && { trainSet }) };
}
