import type { History } from './history';
import { isGap, rowOf, type SensorLayout } from './layout';
import { RecentRows } from './recent-rows';
import { freshMemory, type RowMemory, type ScoredRow, scoreRow, type UsualModel } from './usual';
import { bandsOf, type OffSensor, offSensors } from './verdict';

/** How many rows bring the memories of a fit up to date: five half-lives of the slowest. */
const WARM_ROWS = 150;

export interface OffRow {
  values: Float64Array;
  scored: ScoredRow;
  sensors: OffSensor[];
}

/** Scores the rows of a machine, one after the other, by one fit. */
export class RowScorer {
  private memory: RowMemory | undefined;
  /** The newest rows beside what was expected of them. */
  readonly recent: RecentRows;

  /**
   * @param history whose rows are scored
   * @param shown the rows that were kept by the fit before: they go on where it has the same sensors
   */
  constructor(
    private readonly layout: SensorLayout,
    private readonly usual: UsualModel,
    private readonly history: History,
    shown?: RecentRows,
  ) {
    const isSame = JSON.stringify(shown?.sensors) === JSON.stringify(layout.sensors);
    this.recent = shown !== undefined && isSame ? shown : new RecentRows(layout.sensors);
  }

  /**
   * Scores the newest row of the history.
   *
   * @param row its number
   * @param level the rarity from which on it is unusual
   */
  take(row: number, level: number): OffRow {
    this.warmUp(row, level);
    return this.score(row, level);
  }

  /** Takes the rows before `end` into the memories, unless that is done: after a restart not all machines at once. */
  warmUp(end: number, level: number): void {
    if (this.memory !== undefined) {
      return;
    }
    this.memory = freshMemory(this.usual);
    for (let row = Math.max(this.history.first, end - WARM_ROWS); row < end; row++) {
      this.score(row, level);
    }
  }

  private score(row: number, level: number): OffRow {
    const { layout, usual, history } = this;
    const time = history.time(row);
    if (this.memory === undefined || (row > history.first && isGap(layout, history.time(row - 1), time))) {
      this.memory = freshMemory(usual);
    }
    const { values, context } = rowOf(layout, time, (column) => history.cell(column, row));
    const scored = scoreRow(usual, values, context, this.memory);
    const bands = bandsOf(usual, scored);
    const sensors = offSensors(layout, values, scored, bands);
    const off = scored.rarity > level ? sensors.map(({ column }) => layout.sensors.indexOf(column)) : [];
    this.recent.take(row, time, { values, bands, off });
    return { values, scored, sensors };
  }
}
