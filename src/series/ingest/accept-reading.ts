import { Yielder } from '../../util/concurrency';
import type { KeptRow } from '../kept-row';
import { CAME_LATE, type Machine, ROW_LEFT, type ROW_STAYED } from '../readings/machine';
import type { SeriesParts } from './parts';

/** What comes of a reading. */
export interface Accepted {
  isRow: boolean;
  /** Rows that left before, with the outcome that it completes. */
  released: KeptRow[];
}

/** Stores a reading. @param flag what becomes of its row, if it arrived in order */
export async function acceptReading(
  parts: SeriesParts,
  machine: Machine,
  time: number,
  cells: readonly number[],
  flag: typeof ROW_LEFT | typeof ROW_STAYED = ROW_LEFT,
): Promise<Accepted> {
  const { state, journal, settings } = parts;
  const became = time > machine.newest ? flag : CAME_LATE;
  const isNewest = state.put(machine, time, cells, became);
  journal.reading(machine.key, time, became, cells);
  if (!isNewest) {
    state.pending.revise(machine, time);
  }
  const released = isNewest ? await releaseOutcomes(parts, machine) : [];
  const isRow = isNewest && state.pending.isRow(machine, machine.clock.size - 1);
  if (isRow && settings.outcome.kind === 'message') {
    wait(parts, machine, time, flag === ROW_LEFT);
  }
  state.tidy(machine);
  return { isRow, released };
}

async function releaseOutcomes({ state }: SeriesParts, machine: Machine): Promise<KeptRow[]> {
  const left: KeptRow[] = [];
  const yielder = new Yielder();
  for (const released of state.pending.release(machine)) {
    state.counts.outcomes++;
    if (released.left !== undefined) {
      left.push(released.left);
    }
    const due = yielder.due();
    if (due !== undefined) {
      await due;
    }
  }
  state.pending.settle(machine);
  return left;
}

/** Lets the row of a reading wait for an outcome that a message brings. */
function wait(
  { state, settings, journal }: SeriesParts,
  machine: Machine,
  time: number,
  hasLeft: boolean,
): void {
  const { features, pending, waiting } = state;
  const ahead = settings.aheads[0]!;
  const row = features.row(machine, pending.base(machine, time), time, ahead);
  const one = { key: machine.key, time, ahead, row, truth: NaN, hasLeft };
  waiting.add(state.address(machine.key, time, ahead).id, one);
  journal.waiting(one);
}
