import type { History, HistoryCell } from './history';
import { HOLD_ROWS } from './tail';

/** A sensor that was away for long before is waited for so many times as long. */
const TIMES_LONGEST = 3;

/** Tells of sensors that have stopped coming. */
export class MissingSensors {
  /** The rows since each sensor came, and how many it may be away. */
  private readonly away = new Map<string, number>();
  private may = new Map<string, number>();

  /** Takes the sensors that are known now. */
  learned(sensors: readonly string[], history: History): void {
    this.may = new Map(
      sensors.map((name) => {
        const longest = longestAway(history.column(name).numbers);
        return [name, Math.max(HOLD_ROWS, TIMES_LONGEST * longest)];
      }),
    );
  }

  /** Takes a row. @returns the sensors to tell of, with the rows that they have been away */
  take(cells: ReadonlyMap<string, HistoryCell>): { column: string; rows: number }[] {
    const told: { column: string; rows: number }[] = [];
    for (const [column, may] of this.may) {
      const rows = typeof cells.get(column) === 'number' ? 0 : (this.away.get(column) ?? 0) + 1;
      this.away.set(column, rows);
      if (rows === may + 1) {
        told.push({ column, rows });
      }
    }
    return told;
  }
}

/** The longest time, in rows, after which a sensor came back. */
function longestAway(numbers: Float64Array): number {
  let [longest, away] = [0, 0];
  let hasCome = false;
  for (const number of numbers) {
    if (Number.isNaN(number)) {
      away++;
    } else {
      longest = hasCome ? Math.max(longest, away) : longest;
      away = 0;
      hasCome = true;
    }
  }
  return longest;
}
