import { Yielder } from '../../util/event-loop';
import type { Machine } from '../readings/machine';
import type { SeriesOutcome } from '../types';
import type { SeriesParts } from './parts';

/** Stores a reading. Returns the outcomes that it completes, and whether it gives a row. */
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
    state.pending.revise(machine, time);
  }
  const outcomes = isNewest ? await releaseOutcomes(parts, machine) : [];
  const isRow = isNewest && state.pending.isRow(machine, machine.clock.size - 1);
  if (isRow && settings.outcome.kind === 'message') {
    wait(parts, machine, time);
  }
  state.tidy(machine);
  return { isRow, outcomes };
}

async function releaseOutcomes({ state, builder }: SeriesParts, machine: Machine): Promise<SeriesOutcome[]> {
  const outcomes: SeriesOutcome[] = [];
  const yielder = new Yielder();
  for (const released of state.pending.release(machine)) {
    state.counts.outcomes++;
    if (released.wasLive) {
      outcomes.push(builder.outcomeOf(released));
    }
    const due = yielder.due();
    if (due !== undefined) {
      await due;
    }
  }
  state.pending.settle(machine);
  return outcomes;
}

/** Lets the row of a reading wait for an outcome that a message brings. */
function wait({ state, settings, journal }: SeriesParts, machine: Machine, time: number): void {
  const { features, pending, waiting } = state;
  const ahead = settings.aheads[0]!;
  const row = features.row(machine, pending.base(machine, time), time, ahead);
  const one = { key: machine.key, time, ahead, row, truth: NaN };
  waiting.add(state.address(machine.key, time, ahead).id, one);
  journal.waiting(one);
}
