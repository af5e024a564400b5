import type { KeptRow } from '../kept-row';
import type { Machine } from '../readings/machine';
import type { SeriesState } from '../state/state';
import { FIRST_EVENTS } from '../train-sets/schedule';
import { makeTrainSet, targetName } from '../train-sets/train-set';
import type { SeriesOutcome, SeriesRow, SeriesTrainSet, TrainReason } from '../types';

/** Makes what leaves a series of what it knows: rows, their outcomes, train sets. */
export class SeriesMaker {
  private readonly target: string;

  constructor(
    private readonly state: SeriesState,
    private readonly now: () => number,
  ) {
    this.target = targetName(state.settings);
  }

  /**
   * A row for each step ahead.
   *
   * @param isNow its time has just come, so that a plan could have told what is known ahead
   */
  rowsOf(machine: Machine, time: number, isNow: boolean): SeriesRow[] {
    const { state } = this;
    const { features, ripening } = state;
    const base = ripening.base(machine, time);
    const rows = state.rowAheads.map((ahead) => {
      const row = features.row(machine, base, time, ahead);
      const unknown = features.unknownAhead(row);
      if (isNow && unknown !== undefined) {
        state.counts.unknownAhead++;
        this.tellUnknown(unknown, time + ahead);
      }
      return { series: state.address(machine.key, time, ahead), row: features.cells(row, machine.key) };
    });
    state.counts.rows += rows.length;
    return rows;
  }

  private tellUnknown(column: string, then: number): void {
    this.state.tellOnce(
      {
        kind: 'unknown ahead',
        text: `Nothing told what "${column}" will be at ${new Date(then).toISOString()}, for which a row was made: there it is missing, as it may be in others. Send it before: a reading of that time, or a table of them, with columns known ahead alone.`,
      },
      `unknown ahead ${column}`,
    );
  }

  /** The row with its target. */
  outcomeOf({ key, time, ahead, row, truth }: KeptRow): SeriesOutcome {
    const { state } = this;
    const cell = state.truthCell(truth);
    const cells = state.features.cells(row, key);
    cells[this.target] = cell;
    return { series: state.address(key, time, ahead), row: cells, truth: cell };
  }

  /** All rows with an outcome; undefined where there is none. The schedule counts from here. */
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
            text: `The train set tells of ${facts.events} ${facts.events === 1 ? 'event' : 'events'}, where ${FIRST_EVENTS} are the least for scores to be believed: a model is then scored on rows of an event that it has learned from. Send readings with more events, or wait for them.`,
          },
          'few events',
        );
      }
    }
    return trainSet;
  }
}
