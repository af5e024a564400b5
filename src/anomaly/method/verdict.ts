import type { HistoryCell } from './history';
import type { SensorLayout } from './layout';
import { ALL, CROSS, KINDS, LEVEL, type OffKind } from './statistics';
import { type ScoredRow, TRUSTED_R2, type UsualModel } from './usual';

/** Sensors that are named: those beyond so many spreads, and beyond this share of the first. */
const NAMED_SPREADS = 3.5;
const NAMED_SHARE = 0.5;
const MOST_NAMED = 3;

/** What is expected of a sensor. */
export interface Band {
  expected: number;
  /** Of 90 % of the rows. */
  low: number;
  high: number;
}

/** A sensor that is off. */
export interface OffSensor extends Band {
  column: string;
  value: number;
  /** Spreads off. */
  off: number;
  kind: OffKind;
}

/** What is told of a row. */
export interface RowVerdict {
  /** `learning`: too few rows; `new`: a state that was not met before; `late`: older than rows before. */
  state: 'learning' | 'usual' | 'unusual' | 'new' | 'late';
  rows: number;
  needed: number;
  /** Milliseconds of readings that it knows. */
  knows: number;
  /** A row like this, or less usual, comes once in so many milliseconds. */
  onceIn?: number;
  /** The alarm of the episode under way. */
  alarm?: string;
  sensors: OffSensor[];
  /** The expected values of missing sensors that the others tell. */
  expected: Record<string, number>;
  changes: Change[];
}

export type Change =
  | { kind: 'alarm'; id: string; sensors: OffSensor[]; onceIn: number; time: number }
  | { kind: 'over'; id: string; start: number; end: number }
  | { kind: 'moved'; id: string; column: string; by: number; since: number; time: number }
  | { kind: 'new_state'; column: string; value: HistoryCell; time: number }
  | { kind: 'learned'; rows: number; knows: number }
  | { kind: 'odd_history'; periods: { start: number; end: number }[] };

/** The sensor that is furthest off. */
export function frontOf({ sensors }: SensorLayout, { weights }: ScoredRow): string {
  let front = 0;
  weights.forEach((weight, j) => (front = weight > weights[front] ? j : front));
  return sensors[front];
}

/** The sensors that are furthest off, with what was expected of them. */
export function offSensors(
  { sensors }: SensorLayout,
  values: Float64Array,
  scored: ScoredRow,
  bands: readonly Band[],
): OffSensor[] {
  const order = [...scored.weights.keys()].sort((a, b) => scored.weights[b] - scored.weights[a]);
  const most = scored.weights[order[0]];
  return order
    .filter((j) => scored.weights[j] > NAMED_SPREADS && scored.weights[j] > NAMED_SHARE * most)
    .slice(0, MOST_NAMED)
    .map((j) => ({
      column: sensors[j],
      value: values[j],
      ...bands[j],
      off: scored.weights[j],
      kind: KINDS[scored.kinds[j]],
    }));
}

/** What is expected of each sensor, by the view that knows it well, and the range of 90 % of the rows around it. */
export function bandsOf({ width, known, scale }: UsualModel, { expected }: ScoredRow): Band[] {
  return Array.from({ length: width.sensors }, (_, sensor) => {
    const view = [CROSS, ALL].find((one) => known[one].r2[sensor] >= TRUSTED_R2) ?? LEVEL;
    const middle = expected[view * width.sensors + sensor];
    const { low, high } = known[view];
    return {
      expected: middle,
      low: middle + low[sensor] * scale.spread[sensor],
      high: middle + high[sensor] * scale.spread[sensor],
    };
  });
}

/** What the others tell of sensors that are missing: nothing where they say little of them. */
export function expectedOf(
  { known, width }: UsualModel,
  { sensors }: SensorLayout,
  values: Float64Array,
  { expected }: ScoredRow,
): Record<string, number> {
  const told = sensors.flatMap((column, j) =>
    Number.isNaN(values[j]) && known[CROSS].r2[j] >= TRUSTED_R2
      ? [[column, expected[CROSS * width.sensors + j]] as const]
      : [],
  );
  return Object.fromEntries(told);
}
