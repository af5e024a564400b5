import { type Expectations, expected, type Width } from './ridge';
import { clamp, MOST_IN_MEAN, MOST_SPREADS, type Scale, shareOfNewest } from './robust';

/** Times the largest slow mean on held-out rows: beyond, a sensor has moved. */
const MOVED = 4;
/** That largest mean counts for as much at least, in spreads of what is missed. */
const LEAST_LARGEST = 0.5;
/** A movement is told again after a week. */
const AGAIN_MS = 7 * 86_400_000;
/** A sensor moves from when its mean has left what held-out rows had. */
const BEGINS = 1;

/** How far the slow means of what the ridge from the others missed went on held-out rows. */
export interface Creep {
  scale: Scale;
  /** What the newest row adds to a mean with a half-life of a day. */
  share: number;
  /** sensors */
  largest: Float64Array;
}

/** @param scaled rows × sensors: what was missed, in its scale; NaN is missing */
export function creepOf(scale: Scale, scaled: Float64Array, sensors: number, rowsPerDay: number): Creep {
  const share = shareOfNewest(Math.max(1, rowsPerDay));
  const largest = new Float64Array(sensors).fill(LEAST_LARGEST);
  for (let j = 0; j < sensors; j++) {
    let mean = 0;
    for (let at = j; at < scaled.length; at += sensors) {
      if (!Number.isNaN(scaled[at])) {
        mean += share * (clamp(scaled[at], -MOST_IN_MEAN, MOST_IN_MEAN) - mean);
        largest[j] = Math.max(largest[j], Math.abs(mean));
      }
    }
  }
  return { scale, share, largest };
}

/** What the anchor keeps of the first fit that had seen two weeks. */
export interface AnchorReference {
  width: Width;
  scale: Scale;
  /** `all` is left out: it would follow a creeping sensor. */
  expectations: Pick<Expectations, 'means' | 'cross'>;
  creep: Creep;
}

export interface KeptAnchor {
  reference: AnchorReference;
  /** sensors: the slow means now, when they left what was usual, and when this was told */
  means: Float64Array;
  since: Float64Array;
  told: Float64Array;
}

/** A sensor that has moved slowly. */
export interface Movement {
  sensor: number;
  /** In units of the sensor. */
  by: number;
  since: number;
}

/**
 * Holds what was usual at first beside the readings: fits that follow the readings also follow a fault that creeps. It sees
 * a sensor that leaves the others, not one that takes them along.
 */
export class Anchor {
  constructor(private readonly kept: KeptAnchor) {}

  static of({ width, scale, expectations, creep }: AnchorReference): Anchor {
    const { sensors } = width;
    return new Anchor({
      reference: {
        width,
        scale,
        expectations: { means: expectations.means, cross: expectations.cross },
        creep,
      },
      means: new Float64Array(sensors),
      since: new Float64Array(sensors).fill(NaN),
      told: new Float64Array(sensors).fill(-Infinity),
    });
  }

  /**
   * @param values sensors, in their units; NaN is missing
   * @returns the sensors to tell of
   */
  take(values: Float64Array, context: Float64Array, time: number): Movement[] {
    const { reference, means, since, told } = this.kept;
    const { width, scale, creep } = reference;
    const inputs = new Float64Array(width.sensors + width.context);
    values.forEach((value, j) => {
      const standard = (value - scale.middle[j]) / scale.spread[j];
      inputs[j] = Number.isNaN(standard)
        ? reference.expectations.means[j]
        : clamp(standard, -MOST_SPREADS, MOST_SPREADS);
    });
    inputs.set(context, width.sensors);
    const moved: Movement[] = [];
    for (let j = 0; j < width.sensors; j++) {
      if (Number.isNaN(values[j])) {
        continue;
      }
      const { means: centre, cross } = reference.expectations;
      const missed = inputs[j] - expected(centre, cross, inputs.length, j, inputs, 0);
      const scaled = (missed - creep.scale.middle[j]) / creep.scale.spread[j];
      means[j] += creep.share * (clamp(scaled, -MOST_IN_MEAN, MOST_IN_MEAN) - means[j]);
      const off = Math.abs(means[j]) / creep.largest[j];
      if (off <= BEGINS) {
        since[j] = NaN;
      } else if (Number.isNaN(since[j])) {
        since[j] = time;
      }
      if (off > MOVED && time - told[j] >= AGAIN_MS) {
        told[j] = time;
        moved.push(this.movement(j));
      }
    }
    return moved;
  }

  /** Those that were told and have not come back. */
  get movements(): Movement[] {
    const { since, told } = this.kept;
    return [...since.keys()].filter((j) => told[j] >= since[j]).map((j) => this.movement(j));
  }

  private movement(sensor: number): Movement {
    const { reference, means, since } = this.kept;
    const { scale, creep } = reference;
    const by = means[sensor] * creep.scale.spread[sensor] * scale.spread[sensor];
    return { sensor, by, since: since[sensor] };
  }

  keep(): KeptAnchor {
    return this.kept;
  }
}
