/** Most points of a curve, and most rows of a picture of rows. */
export const MAX_POINTS = 400;
/** Probabilities that people choose: what is answered from each of them on is told to the row. */
const ROUND = Array.from({ length: 19 }, (_, i) => (19 - i) / 20);

export interface ThresholdCurve {
  /** The class that is looked for. */
  positive: string | number | boolean;
  /** Rows that are of it, and rows that are not. */
  positives: number;
  negatives: number;
  /** Probabilities, falling; at most 400. */
  at: number[];
  /** Rows of the class, and other rows, with at least that probability. */
  hits: number[];
  false_alarms: number[];
  /** Days that the rows are of, where they have a time: what is found, and false alarms, per day. */
  days?: number;
}

/** What is answered from one row's probability on. */
interface Point {
  at: number;
  hits: number;
  alarms: number;
  place: number;
  isLast: boolean;
}

/**
 * What is found from which probability on. Where there is no room for a point for each row, there is one for 0.5 and the
 * other round probabilities, for what is best by accuracy and by F1, and the others are the denser the fewer false alarms
 * there are: with a class of one row in a hundred, equal steps of the share of false alarms would leave out all that
 * anyone would choose from.
 *
 * @param own rising probabilities of the rows that are of the class, and `other` of those that are not
 * @returns undefined where there are none of either
 */
export function thresholdCurve(
  positive: ThresholdCurve['positive'],
  own: Float64Array,
  other: Float64Array,
): ThresholdCurve | undefined {
  const [positives, negatives] = [own.length, other.length];
  if (positives === 0 || negatives === 0) {
    return undefined;
  }
  const curve: ThresholdCurve = { positive, positives, negatives, at: [], hits: [], false_alarms: [] };
  const exact = exactPoints(own, other);
  const step = 2 / (MAX_POINTS - exact.size - 2);
  let due = 0;
  walk(own, other, ({ at, hits, alarms, place, isLast }) => {
    const part = alarms / negatives;
    const way = hits / positives + (part + Math.sqrt(part)) / 2;
    if (way >= due || exact.has(place) || isLast) {
      // Down, so that the row itself is above it.
      curve.at.push(Math.floor(at * 1e7) / 1e7);
      curve.hits.push(hits);
      curve.false_alarms.push(alarms);
    }
    if (way >= due) {
      due = (Math.floor(way / step) + 1) * step;
    }
  });
  return curve;
}

/** Of the round probabilities, and of what is best: of equal ones that nearest to 0.5, as such thresholds are found. */
function exactPoints(own: Float64Array, other: Float64Array): Set<number> {
  const round = ROUND.map(() => 0);
  const rules = [
    ({ hits, alarms }: Point) => hits - alarms,
    ({ hits, alarms }: Point) => hits / (hits + alarms + own.length),
  ].map((value) => ({ value, most: -Infinity, at: 1, place: 0 }));
  walk(own, other, (point) => {
    const { at, place } = point;
    ROUND.forEach((from, i) => {
      round[i] = at >= from ? place : round[i];
    });
    for (const rule of rules) {
      const value = rule.value(point);
      if (value > rule.most || (value === rule.most && Math.abs(at - 0.5) < Math.abs(rule.at - 0.5))) {
        Object.assign(rule, { most: value, at, place });
      }
    }
  });
  return new Set([...round, ...rules.map(({ place }) => place)]);
}

/** A point for each probability that a row has, falling. */
function walk(own: Float64Array, other: Float64Array, take: (point: Point) => void): void {
  let hits = 0;
  let alarms = 0;
  for (let place = 0; hits < own.length || alarms < other.length; place++) {
    const at = Math.max(
      hits < own.length ? own[own.length - 1 - hits] : -Infinity,
      alarms < other.length ? other[other.length - 1 - alarms] : -Infinity,
    );
    while (hits < own.length && own[own.length - 1 - hits] >= at) {
      hits++;
    }
    while (alarms < other.length && other[other.length - 1 - alarms] >= at) {
      alarms++;
    }
    take({ at, hits, alarms, place, isLast: hits === own.length && alarms === other.length });
  }
}
