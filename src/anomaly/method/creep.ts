import { type HistoryCell, WEEK_MS } from './history';
import { arrangeRow, isGap, type SensorLayout } from './layout';
import {
  added,
  arrangeInputs,
  beginPast,
  expected,
  fitFromOthers,
  heldOutBlocks,
  type HistoryRows,
  inputCount,
  type OthersExpectations,
  sumMoments,
  takeIntoPast,
  type Width,
} from './ridge';
import {
  clamp,
  CROSS,
  missedScale,
  MOST_IN_MEAN,
  MOST_SPREADS,
  type Scale,
  shareOfNewest,
} from './statistics';
import type { Change } from './verdict';

/** The first fit that has seen so much is the one that creeping is measured by. */
export const ANCHOR_MS = 2 * WEEK_MS;

/** What people said of a sensor that has moved. */
export interface AnsweredMovement {
  column: string;
  answer: 'real' | 'usual';
}

/** A sensor that has moved slowly, with the id by which people answer. */
interface MovedSensor {
  id: string;
  column: string;
  /** In its unit. */
  by: number;
  since: number;
  isReal: boolean;
}

export interface KeptMovedSensors {
  kept: KeptAnchor;
  layout: SensorLayout;
}

/** The sensors of a machine that creep away from the others, by their columns and with ids. */
export class MovedSensors {
  private constructor(
    private readonly anchor: Anchor,
    private readonly layout: SensorLayout,
    /** Of the machine, in front of the ids. */
    private readonly key: string | undefined,
  ) {}

  /** @param reference of the first fit that has seen two weeks: what creeping is measured by */
  static measuredBy(reference: AnchorReference, layout: SensorLayout, key: string | undefined): MovedSensors {
    return new MovedSensors(Anchor.of(reference), layout, key);
  }

  static restored({ kept, layout }: KeptMovedSensors, key: string | undefined): MovedSensors {
    return new MovedSensors(new Anchor(kept), layout, key);
  }

  /**
   * Takes a row.
   * @param before the time of the row before
   * @returns the sensors to tell of
   */
  take(time: number, before: number, cells: ReadonlyMap<string, HistoryCell>): Change[] {
    const { anchor, layout } = this;
    const { values, context } = arrangeRow(layout, time, (column) => cells.get(column));
    return anchor.take(values, context, time, isGap(layout, before, time)).map(({ sensor, by, since }) => {
      const column = layout.sensors[sensor];
      return { kind: 'moved', id: this.movementId(column, since), column, by, since, time };
    });
  }

  /** Those that were told and have not come back. */
  get movements(): MovedSensor[] {
    return this.anchor.movements.map(({ sensor, ...movement }) => {
      const column = this.layout.sensors[sensor];
      return { id: this.movementId(column, movement.since), column, ...movement };
    });
  }

  /** The sensor with this id, and when it was told; without one, the one that was told last. */
  toldLast(id: string | undefined): { at: number; column: string } | undefined {
    return this.anchor.told
      .map(({ sensor, since, at }) => ({ at, since, column: this.layout.sensors[sensor] }))
      .filter(({ column, since }) => id === undefined || id === this.movementId(column, since))
      .sort((a, b) => a.at - b.at)
      .at(-1);
  }

  answer({ column, answer }: AnsweredMovement): void {
    const sensor = this.layout.sensors.indexOf(column);
    if (sensor >= 0) {
      this.anchor.answer(sensor, answer);
    }
  }

  keep(): KeptMovedSensors {
    return { kept: this.anchor.keep(), layout: this.layout };
  }

  /** As long as a sensor stays away, it is one movement. */
  private movementId(column: string, since: number): string {
    return [...(this.key === undefined ? [] : [this.key]), new Date(since).toISOString(), column].join(' ');
  }
}

/** Times the largest slow mean on held-out rows: beyond, a sensor has moved. */
const MOVED = 4;
/** That largest mean counts for as much at least, in spreads of what is missed. */
const LEAST_LARGEST = 0.5;
/** A movement is told again after a week, and from then on each time it has lasted twice as long. */
const AGAIN_MS = WEEK_MS;
/** A sensor moves from when its mean has left what held-out rows had. */
const BEGINS = 1;
/** The half-lives, in rows, of the means of the past: temperatures lag behind the load by hours. */
const PAST_SHARES = [10, 30].map(shareOfNewest);
/** Cells that are not believed are filled from each other, so often. */
const FILLS = 3;

/** What the anchor keeps of the first fit that had seen two weeks. */
export interface AnchorReference {
  width: Width;
  /** Of the sensors, in their units. */
  scale: Scale;
  /** From the others alone: what a sensor was before would follow it when it creeps. */
  expectations: OthersExpectations;
  /** Of what is missed on held-out rows, in spreads. */
  missed: Scale;
  /** What the newest row adds to a mean with a half-life of a day. */
  share: number;
  /** sensors: how far the slow means of what was missed went on held-out rows, in their scale */
  largest: Float64Array;
}

/**
 * What creeping is measured by.
 *
 * @param standard rows × sensors, standardised and filled
 * @param weights rows: 0 where one is not learned from
 */
export function anchorReference(
  train: HistoryRows,
  standard: Float64Array,
  weights: Float64Array,
  scale: Scale,
): AnchorReference {
  const { width, values, leftOut, rowsPerDay } = train;
  const { sensors } = width;
  const columns = inputCount(width);
  const inputs = arrangeInputs(train, standard, PAST_SHARES);
  const blocks = heldOutBlocks(leftOut.length);
  const moments = blocks.map((block) => sumMoments(inputs, columns, block, weights));
  const off = new Float64Array(values.length);
  blocks.forEach(({ from, to }, block) => {
    const { means, coefficients } = fitFromOthers(added(moments, moments[block]), width);
    for (let row = from; row < to; row++) {
      for (let j = 0; j < sensors; j++) {
        const at = row * sensors + j;
        const isThere = leftOut[row] === 0 && !Number.isNaN(values[at]);
        off[at] = isThere
          ? standard[at] - expected({ means, coefficients, size: columns }, j, inputs, row * columns)
          : NaN;
      }
    }
  });
  const missed = missedScale(off, standard, sensors, CROSS);
  const share = shareOfNewest(Math.max(1, rowsPerDay));
  const largest = new Float64Array(sensors).fill(LEAST_LARGEST);
  const slow = new Float64Array(sensors);
  off.forEach((value, at) => {
    const j = at % sensors;
    if (!Number.isNaN(value)) {
      slow[j] += share * (inScale(missed, j, value) - slow[j]);
      largest[j] = Math.max(largest[j], Math.abs(slow[j]));
    }
  });
  return { width, scale, expectations: fitFromOthers(added(moments), width), missed, share, largest };
}

function inScale({ middle, spread }: Scale, sensor: number, value: number): number {
  return clamp((value - middle[sensor]) / spread[sensor], -MOST_IN_MEAN, MOST_IN_MEAN);
}

export interface KeptAnchor {
  reference: AnchorReference;
  /** sensors: the slow means now, when they left what was usual, and when this was told */
  means: Float64Array;
  since: Float64Array;
  told: Float64Array;
  /** The means of the past; undefined before the first row and after a gap. */
  past: Float64Array | undefined;
  /** Left out by versions that took no answers. */
  answers?: MovementAnswers;
}

/** What people said of sensors that have moved. All by sensor. */
interface MovementAnswers {
  /** Since when the last movement that was told goes on, and whether it was called real. */
  begun: Float64Array;
  real: Uint8Array;
  /** How far above the first fit is usual now, in spreads. */
  shift: Float64Array;
  /** What is missed since it was called usual, in spreads, and the rows that are still to be taken for it. */
  level: Float64Array;
  rowsLeft: Float64Array;
}

/** A sensor that has moved slowly. */
export interface Movement {
  sensor: number;
  /** In units of the sensor. */
  by: number;
  since: number;
}

/** A movement as it was told last. */
export interface ToldMovement {
  sensor: number;
  since: number;
  at: number;
}

/**
 * Holds what was usual at first beside the readings: fits that follow the readings also follow a fault that creeps. It sees
 * a sensor that leaves the others, not one that takes them along.
 */
export class Anchor {
  private readonly kept: KeptAnchor & { answers: MovementAnswers };
  /** Rows of a day: so many say what is usual now. */
  private readonly rowsOfDay: number;

  constructor(kept: KeptAnchor) {
    const { sensors } = kept.reference.width;
    const numbers = (): Float64Array => new Float64Array(sensors);
    const none = { real: new Uint8Array(sensors), shift: numbers(), level: numbers(), rowsLeft: numbers() };
    this.kept = { ...kept, answers: kept.answers ?? { begun: kept.since.slice(), ...none } };
    this.rowsOfDay = Math.max(1, Math.round(Math.log(0.5) / Math.log(1 - kept.reference.share)));
  }

  static of(reference: AnchorReference): Anchor {
    const { sensors } = reference.width;
    return new Anchor({
      reference,
      means: new Float64Array(sensors),
      since: new Float64Array(sensors).fill(NaN),
      told: new Float64Array(sensors).fill(-Infinity),
      past: undefined,
    });
  }

  /**
   * @param values sensors, in their units; NaN is missing
   * @param isAfterGap whether the past says nothing of this row
   * @returns the sensors to tell of
   */
  take(values: Float64Array, context: Float64Array, time: number, isAfterGap: boolean): Movement[] {
    const { reference, means, since, told, answers } = this.kept;
    const { width, scale, missed, share, largest, expectations } = reference;
    const standard = values.map((value, j) => (value - scale.middle[j]) / scale.spread[j] - answers.shift[j]);
    const own = standard.map((value) => clamp(value, -MOST_SPREADS, MOST_SPREADS));
    const inputs = this.inputs(own, context, isAfterGap);
    const moved: Movement[] = [];
    for (let j = 0; j < width.sensors; j++) {
      if (Number.isNaN(own[j])) {
        continue;
      }
      const usual = expected({ ...expectations, size: inputs.length }, j, inputs, 0);
      if (answers.rowsLeft[j] > 0) {
        this.takeAsUsual(j, standard[j] - usual);
        continue;
      }
      means[j] += share * (inScale(missed, j, own[j] - usual) - means[j]);
      const size = Math.abs(means[j]) / largest[j];
      if (size <= BEGINS) {
        since[j] = NaN;
        answers.real[j] = 0;
      } else if (Number.isNaN(since[j])) {
        since[j] = time;
      }
      if (size > MOVED && time - told[j] >= Math.max(AGAIN_MS, told[j] - since[j])) {
        told[j] = time;
        answers.begun[j] = since[j];
        moved.push(this.movement(j));
      }
    }
    return moved;
  }

  /** Those that were told and have not come back; `isReal` where people said so. */
  get movements(): (Movement & { isReal: boolean })[] {
    const { since, answers } = this.kept;
    return [...since.keys()]
      .filter((j) => this.isAway(j))
      .map((j) => ({ ...this.movement(j), isReal: answers.real[j] === 1 }));
  }

  /** The last movement of each sensor that was told of. */
  get told(): ToldMovement[] {
    const { told, answers } = this.kept;
    return [...told.keys()]
      .filter((j) => told[j] > -Infinity)
      .map((j) => ({ sensor: j, since: answers.begun[j], at: told[j] }));
  }

  /**
   * What people say of a sensor that has moved. Where that is usual now, how far it is off is measured anew by the rows of
   * the next day: the slow mean lags behind, and a set point is answered within hours. The other sensors stay as they are.
   */
  answer(sensor: number, answer: 'real' | 'usual'): void {
    const { means, since, answers } = this.kept;
    if (answer === 'real') {
      answers.real[sensor] = Number(!Number.isNaN(since[sensor]));
      return;
    }
    answers.real[sensor] = 0;
    answers.rowsLeft[sensor] = this.rowsOfDay;
    means[sensor] = 0;
    since[sensor] = NaN;
  }

  /** @param off how far a sensor that was called usual is from what the others let expect, in spreads */
  private takeAsUsual(sensor: number, off: number): void {
    const { reference, answers } = this.kept;
    const { level, rowsLeft, shift } = answers;
    const row = this.rowsOfDay - rowsLeft[sensor] + 1;
    const step = row === 1 ? off - level[sensor] : clamp(off - level[sensor], -MOST_SPREADS, MOST_SPREADS);
    level[sensor] += step / row;
    rowsLeft[sensor]--;
    if (rowsLeft[sensor] === 0) {
      shift[sensor] += level[sensor] - reference.missed.middle[sensor];
    }
  }

  /**
   * A row as the others are expected from. A sensor that has moved says nothing of them any more: like one that is missing,
   * it counts as what the others let expect, or else they would seem to move as well.
   */
  private inputs(own: Float64Array, context: Float64Array, isAfterGap: boolean): Float64Array {
    const { reference } = this.kept;
    const { width, expectations } = reference;
    const inputs = new Float64Array(inputCount(width));
    const row = inputs.subarray(0, width.sensors);
    row.set(own);
    inputs.set(context, width.sensors);
    const { rowsLeft } = this.kept.answers;
    const places = [...own.keys()].filter((j) => Number.isNaN(own[j]) || this.isAway(j) || rowsLeft[j] > 0);
    places.forEach((j) => (row[j] = expectations.means[j]));
    if (isAfterGap || this.kept.past === undefined) {
      this.kept.past = beginPast(row, PAST_SHARES);
    }
    inputs.set(this.kept.past, width.sensors + width.context);
    for (let fill = 0; fill < (places.length > 1 ? FILLS : 1); fill++) {
      for (const j of places) {
        const value = expected({ ...expectations, size: inputs.length }, j, inputs, 0);
        row[j] = clamp(value, -MOST_SPREADS, MOST_SPREADS);
      }
    }
    takeIntoPast(this.kept.past, PAST_SHARES, row);
    return inputs;
  }

  private isAway(sensor: number): boolean {
    const { since, told } = this.kept;
    return told[sensor] >= since[sensor];
  }

  private movement(sensor: number): Movement {
    const { reference, means, since } = this.kept;
    const { scale, missed } = reference;
    const by = means[sensor] * missed.spread[sensor] * scale.spread[sensor];
    return { sensor, by, since: since[sensor] };
  }

  keep(): KeptAnchor {
    return this.kept;
  }
}
