import { Yielder } from '../../util/event-loop';
import type { Machine } from '../readings/machine';
import type { SeriesOutcome } from '../types';
import type { SeriesParts } from './parts';

/** Puts a reading in its place. Answers the outcomes that are known by it, and whether it gives a row. */
export async function acceptReading(
  parts: SeriesParts,
  machine: Machine,
  time: number,
  cells: readonly number[],
): Promise<{ isRow: boolean; outcomes: SeriesOutcome[] }> {
  const { state, journal, settings } = parts;
  const flag = time > machine.newest ? 1 : 0;
  const isNewest = state.put(machine, time, cells, flag);
  journal.reading(machine.key, time, flag, cells);
  if (!isNewest) {
    state.ripening.revise(machine, time);
  }
  const outcomes = isNewest ? await ripen(parts, machine) : [];
  const isRow = isNewest && state.ripening.isRow(machine, machine.clock.size - 1);
  if (isRow && settings.outcome.kind === 'message') {
    wait(parts, machine, time);
  }
  state.tidy(machine);
  return { isRow, outcomes };
}

async function ripen({ state, maker }: SeriesParts, machine: Machine): Promise<SeriesOutcome[]> {
  const outcomes: SeriesOutcome[] = [];
  const yielder = new Yielder();
  for (const ripe of state.ripening.release(machine)) {
    state.counts.outcomes++;
    if (ripe.wasLive) {
      outcomes.push(maker.outcomeOf(ripe));
    }
    const due = yielder.due();
    if (due !== undefined) {
      await due;
    }
  }
  state.ripening.settle(machine);
  return outcomes;
}

/** The row of a reading waits for an outcome that a message brings. */
function wait({ state, settings, journal }: SeriesParts, machine: Machine, time: number): void {
  const { features, ripening, waiting } = state;
  const ahead = settings.aheads[0]!;
  const row = features.row(machine, ripening.base(machine, time), time, ahead);
  const one = { key: machine.key, time, ahead, row, truth: NaN };
  waiting.add(state.address(machine.key, time, ahead).id, one);
  journal.waiting(one);
}
