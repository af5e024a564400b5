import type { KeptRow } from '../kept-row';
import type { Machine } from '../readings/machine';
import type { SeriesState } from '../state/state';
import { FIRST_EVENTS } from '../train-sets/schedule';
import { makeTrainSet, targetName } from '../train-sets/train-set';
import type { SeriesOutcome, SeriesRow, SeriesTrainSet, TrainReason } from '../types';
import type { PastRows } from './past-rows';

/** Builds what leaves a series: rows, outcomes and train sets. */
export class StepBuilder {
  private readonly target: string;

  constructor(
    private readonly state: SeriesState,
    private readonly now: () => number,
  ) {
    this.target = targetName(state.settings);
  }

  /** The rows of a live reading, one per ahead: a plan should have covered them. */
  liveRows(machine: Machine, time: number): SeriesRow[] {
    const { state } = this;
    const { features } = state;
    const base = state.pending.base(machine, time);
    const rows = state.rowAheads.map((ahead) => {
      const row = features.row(machine, base, time, ahead);
      const unknown = features.unknownAhead(row);
      if (unknown !== undefined) {
        state.counts.unknownAhead++;
        this.tellUnknown(unknown, time + ahead);
      }
      return { series: state.address(machine.key, time, ahead), row: features.cells(row, machine.key) };
    });
    state.counts.rows += rows.length;
    return rows;
  }

  /** Adds the rows of a past reading, one per ahead. */
  addPastRows(past: PastRows, machine: Machine, time: number): void {
    const { features, pending, rowAheads, counts } = this.state;
    const base = pending.base(machine, time);
    const rows = rowAheads.map((ahead) => features.row(machine, base, time, ahead));
    past.add(machine.key, time, base, rows);
    counts.rows += rows.length;
  }

  private tellUnknown(column: string, then: number): void {
    this.state.tellOnce(
      {
        kind: 'unknown ahead',
        text: `No plan says what "${column}" will be at ${new Date(then).toISOString()}, for which a row was made: it is missing there, and may be in other rows. Send it in advance: a reading with that time, or a table of them, with columns known ahead only.`,
      },
      `unknown ahead ${column}`,
    );
  }

  /** A row with its target. */
  outcomeOf({ key, time, ahead, row, truth }: KeptRow): SeriesOutcome {
    const { state } = this;
    const cell = state.truthCell(truth);
    const cells = state.features.cells(row, key, this.target);
    cells[this.target] = cell;
    return { series: state.address(key, time, ahead), row: cells, truth: cell };
  }

  /** All rows with an outcome; undefined where there is none. Restarts the schedule. */
  trainSet(reason: TrainReason): SeriesTrainSet | undefined {
    const { state } = this;
    const sensor = state.outcomeSensor;
    const trainSet = makeTrainSet(state.rowsWithOutcome(), reason, {
      settings: state.settings,
      features: state.features,
      level: sensor?.kind === 'number' ? sensor : undefined,
      truthCell: (truth) => state.truthCell(truth),
    });
    if (trainSet !== undefined) {
      const facts = state.facts(this.now());
      state.schedule.went(facts);
      if ((facts.events ?? FIRST_EVENTS) < FIRST_EVENTS) {
        state.tellOnce(
          {
            kind: 'few events',
            text: `The train set has only ${facts.events} ${facts.events === 1 ? 'event' : 'events'}. With fewer than ${FIRST_EVENTS} a model is scored on rows of an event that it has learned from, so its scores cannot be trusted. Send readings with more events, or wait for them.`,
          },
          'few events',
        );
      }
    }
    return trainSet;
  }
}
