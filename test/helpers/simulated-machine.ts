/*
 * A machine whose readings have what makes real ones hard: shifts, stops, products, weekends, heat that lags behind the
 * load, weather that wanders over days, noise of several speeds. One reading each 5 minutes, ten sensors and a state.
 */
import { type Detector, learn } from '../doors/anomaly';
import { seededRandom } from '../doors/util';

export const STEP_MS = 300_000;
export const ROWS_A_DAY = 288;
export const ROWS_A_WEEK = 7 * ROWS_A_DAY;
/** A Monday. */
export const BEGINS = Date.UTC(2026, 0, 5);
export const SENSORS = [
  'current',
  'speed',
  'bearing',
  'housing',
  'vibration',
  'voltage',
  'flow',
  'room',
  'pressure',
  'power',
] as const;
const MODES = ['off', 'product A', 'product B', 'product C'];

export interface Machine {
  names: readonly string[];
  /** rows × sensors */
  values: Float64Array[];
  /** Its state in each row; empty where it has none. */
  modes: string[];
}

/**
 * @param drift 1: the weather rises by 8 degrees over all weeks
 * @param often so many readings in 5 minutes, of the same machine
 */
export function simulatedMachine({
  weeks,
  seed,
  drift = 0,
  often = 1,
}: {
  weeks: number;
  seed: number;
  drift?: number;
  often?: number;
}): Machine {
  const random = seededRandom(seed * 7919 + 17);
  const rows = Math.round(ROWS_A_WEEK * often * weeks);
  const day = ROWS_A_DAY * often;
  const on = workingHours(rows, often, random);
  const slow = walk(rows, 40 * often, random);
  const weather = walk(rows, 900 * often, random);
  const grid = walk(rows, 60 * often, random);
  const heat = new Lag(30 * often);
  const housing = new Lag(100 * often);
  const values: Float64Array[] = [];
  const modes: string[] = [];
  let product = 0;
  for (let row = 0; row < rows; row++) {
    if (row % (96 * often) === 0) {
      product = Math.floor(random() * 3);
    }
    const running = on[row]!;
    const hour = ((row % day) / day) * 24;
    const load = running * Math.min(1.4, Math.max(0.1, 0.5 + 0.18 * product + 0.15 * slow[row]!));
    const room = 4 * Math.sin(((hour - 9) / 24) * 2 * Math.PI) + 3 * weather[row]! + (drift * 8 * row) / rows;
    const warm = heat.take(load);
    const warmer = housing.take(load);
    values.push(
      Float64Array.of(
        load * 40 + 3 * running,
        running * (900 + 500 * Math.min(1, load)),
        20 + room + 45 * warm,
        22 + 0.8 * room + 30 * warmer,
        running * (2 + 3 * load ** 2),
        400 - 6 * load + 1.5 * grid[row]!,
        running * (0.4 + 0.5 * load + 0.25 * load ** 3),
        18 + room,
        running * (12 + 8 * Math.sqrt(load) - 0.05 * room),
        running * (5 + 0.2 * room + 4 * load * (1 + 0.02 * room)),
      ),
    );
    modes.push(MODES[running === 1 ? 1 + product : 0]!);
  }
  addNoise(values, often, random);
  return { names: SENSORS, values, modes };
}

/** 1 while the machine runs: two shifts on six days, with short stops. */
function workingHours(rows: number, often: number, random: () => number): number[] {
  const on: number[] = [];
  const rowsADay = ROWS_A_DAY * often;
  let stop = 0;
  for (let row = 0; row < rows; row++) {
    const hour = ((row % rowsADay) / rowsADay) * 24;
    const day = Math.floor(row / rowsADay) % 7;
    if (random() < 1 / (400 * often)) {
      stop = 1 + Math.floor(Math.log(1 - random()) / Math.log(1 - 1 / (12 * often)));
    }
    on.push(hour > 5.5 && hour < 22 && day < 6 && stop <= 0 ? 1 : 0);
    stop--;
  }
  return on;
}

function addNoise(values: Float64Array[], often: number, random: () => number): void {
  const rows = values.length;
  SENSORS.forEach((_, j) => {
    const spread = deviation(values.map((row) => row[j]!));
    const quick = walk(rows, 3 * often, random);
    const slow = walk(rows, 200 * often, random);
    values.forEach((row, i) => {
      row[j]! += spread * (0.04 * quick[i]! + 0.05 * slow[i]! + 0.03 * normal(random));
    });
  });
}

/** A value that forgets over `rows` rows, with a standard deviation of 1. */
function walk(length: number, rows: number, random: () => number): Float64Array {
  const keep = Math.exp(-1 / rows);
  const step = Math.sqrt(1 - keep * keep);
  const out = new Float64Array(length);
  let value = normal(random);
  for (let i = 0; i < length; i++) {
    value = keep * value + step * normal(random);
    out[i] = value;
  }
  return out;
}

class Lag {
  private value = 0;

  constructor(private readonly rows: number) {}

  take(input: number): number {
    this.value += (input - this.value) / this.rows;
    return this.value;
  }
}

export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

export const FAULTS = [
  'drift',
  'stuck',
  'offset',
  'spike',
  'lost',
  'noise',
  'swap',
  'scale',
  'dead',
] as const;
export type Fault = (typeof FAULTS)[number];

/** Of each sensor: its middle, its usual spread, and that of its steps. */
export interface Usuals {
  middle: number[];
  spread: number[];
  step: number[];
}

export function usualsOf(values: readonly Float64Array[]): Usuals {
  const columns = Array.from(values[0]!, (_, j) => values.map((row) => row[j]!));
  return {
    middle: columns.map((column) => [...column].sort((a, b) => a - b)[column.length >> 1]!),
    spread: columns.map(deviation),
    step: columns.map(
      (column) => deviation(column.slice(1).map((value, i) => value - column[i]!)) / Math.SQRT2,
    ),
  };
}

/**
 * The readings with a fault of one sensor.
 *
 * @param size 1: a drift to 2 spreads, an offset of 1, spikes of 4, a scale of 1.5, three times the noise
 * @returns the places of the sensors that are wrong
 */
export function injectFault(
  values: Float64Array[],
  {
    kind,
    sensor,
    from,
    rows,
    size = 1,
  }: { kind: Fault; sensor: number; from: number; rows: number; size?: number },
  { middle, spread, step }: Usuals,
  random: () => number,
): number[] {
  const before = values.map((row) => row.slice());
  const sign = random() < 0.5 ? -1 : 1;
  const sensors = values[0]!.length;
  const other = (sensor + 1 + Math.floor(random() * (sensors - 1))) % sensors;
  const lost = (from + (values.length >> 1)) % (values.length - rows);
  const least = Math.min(...before.map((row) => row[sensor]!));
  const [usual, wide] = [middle[sensor]!, spread[sensor]!];
  for (let i = 0; i < rows; i++) {
    const row = values[from + i]!;
    switch (kind) {
      case 'drift':
        row[sensor]! += (sign * size * 2 * wide * i) / rows;
        break;
      case 'offset':
        row[sensor]! += sign * size * wide;
        break;
      case 'stuck':
        row[sensor] = before[from]![sensor]!;
        break;
      case 'spike':
        row[sensor]! += i % Math.max(1, Math.floor(rows / 3)) === 0 ? sign * size * 4 * wide : 0;
        break;
      case 'lost':
        row[sensor] = before[lost + i]![sensor]!;
        break;
      case 'noise':
        row[sensor]! += normal(random) * step[sensor]! * Math.sqrt(8) * size;
        break;
      case 'scale':
        row[sensor] = usual + (row[sensor]! - usual) * (1 + 0.5 * size);
        break;
      case 'dead':
        row[sensor] = least;
        break;
      case 'swap': {
        const [one, two] = [before[from + i]![sensor]!, before[from + i]![other]!];
        row[other] = middle[other]! + (spread[other]! * (one - usual)) / wide;
        row[sensor] = usual + (wide * (two - middle[other]!)) / spread[other]!;
        break;
      }
    }
  }
  return kind === 'swap' ? [sensor, other] : [sensor];
}

/** The columns of a row. */
export function cellsOf({ names, values, modes }: Machine, row: number): Record<string, number | string> {
  const mode = modes[row];
  return {
    ...Object.fromEntries(names.map((name, j) => [name, values[row]![j]!])),
    ...(mode !== undefined && { mode }),
  };
}

/** A row as a reading. */
export function readingOf(machine: Machine, row: number): Record<string, number | string> {
  return { time: BEGINS + row * STEP_MS, ...cellsOf(machine, row) };
}

/** Learns anew where that is due. */
export function fitIfDue(detector: Detector): void {
  const task = detector.claim() ? detector.task() : undefined;
  if (task !== undefined) {
    detector.learned(learn(task));
  }
}
