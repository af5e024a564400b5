/* What the benches of the anomaly node share: machines that were taught, and their rows scored. */
import { contextWidth, Detector, freshMemory, learn, scoreRow, writeContext } from '../../test/doors/anomaly';
import { BEGINS, cellsOf, type Machine, STEP_MS } from '../../test/helpers/simulated-machine';
import type { Peer } from './peers';

export const SETTINGS = { perWeek: 1, learn: 300, key: undefined, ignored: new Set<string>() };
/** Rows that bring the slow means up to date. */
const WARM_ROWS = 300;

/** What a method says of rows that follow one another. */
export type Scorer = (
  machine: Machine,
  from: number,
  to: number,
) => { score: number; sensor: number | undefined }[];

/** Of a method that looks at one row at a time. */
export const byRow =
  (peer: Peer): Scorer =>
  ({ values }, from, to) =>
    values.slice(from, to).map(peer);

type Learned = ReturnType<typeof learn>;

export function mapOf(machine: Machine, row: number): Map<string, number | string> {
  return new Map(Object.entries(cellsOf(machine, row)));
}

/** A detector that has learned the first rows of a machine, and what it has learned. */
export function taught(machine: Machine, rows: number): { detector: Detector; learned: Learned } {
  const detector = new Detector(SETTINGS);
  for (let row = 0; row < rows; row++) {
    detector.teach(BEGINS + row * STEP_MS, mapOf(machine, row));
  }
  const learned = learn(detector.task()!);
  detector.learned(learned);
  return { detector, learned };
}

/** @param isLost cells that are missing */
export function ours(
  { usual, layout }: Learned,
  isLost: (row: number, sensor: number) => boolean = () => false,
): Scorer {
  return ({ names, values, modes }, from, to) => {
    const memory = freshMemory(usual);
    const context = new Float64Array(contextWidth(layout));
    const order = layout.sensors.map((name) => names.indexOf(name));
    const out: ReturnType<Scorer> = [];
    for (let row = Math.max(0, from - WARM_ROWS); row < to; row++) {
      writeContext(layout, BEGINS + row * STEP_MS, () => modes[row], context);
      const own = Float64Array.from(order, (j) => (isLost(row, j) ? NaN : values[row]![j]!));
      const { rarity, weights } = scoreRow(usual, own, context, memory);
      if (row >= from) {
        const front = weights.indexOf(Math.max(...weights));
        out.push({ score: rarity, sensor: order[front] });
      }
    }
    return out;
  };
}
