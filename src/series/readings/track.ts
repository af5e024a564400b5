import { Timeline } from './timeline';

/** Readings of a sensor that windows see one by one; what is older is seen in blocks. */
export const RAW = 1024;
/** Blocks of the longest window. */
const BLOCKS = 512;

/** What the readings of a stretch of time come to. Of states, `mean` to `high` are unused; of numbers, `changes` to `changed`. */
export interface ReadingBlock {
  /** The stretch: [index × width, (index + 1) × width). */
  index: number;
  /** Time of its first reading, and of the first one after it. */
  start: number;
  end: number;
  /** The longest time from one reading to the next. */
  gap: number;
  /** Time-weighted, each value until the next reading; m2 is the sum of squared deviations × milliseconds. */
  mean: number;
  m2: number;
  low: number;
  high: number;
  first: number;
  last: number;
  changes: number;
  /** Time of the last change; NaN where there is none. */
  changed: number;
}

/** The weighted mean and squared deviations of values that hold for some milliseconds (Chan et al. 1979). */
export class Moments {
  weight = 0;
  mean = 0;
  m2 = 0;
  low = Infinity;
  high = -Infinity;

  add(weight: number, mean: number, m2: number, low: number, high: number): void {
    this.low = Math.min(this.low, low);
    this.high = Math.max(this.high, high);
    if (weight > 0) {
      const total = this.weight + weight;
      const delta = mean - this.mean;
      this.mean += (delta * weight) / total;
      this.m2 += m2 + delta * delta * ((this.weight * weight) / total);
      this.weight = total;
    }
  }
}

/**
 * The readings of one sensor of one machine, as far back as windows reach. All that is asked of it is a function of the
 * readings alone, whatever order they came in: the newest RAW ones are seen one by one, older ones in blocks of time
 * with fixed borders.
 */
export class Track {
  readonly line = new Timeline();
  readonly blocks: ReadingBlock[] = [];
  /** Readings before this time are in blocks. */
  private builtUntil = -Infinity;
  private readonly width: number;

  constructor(private readonly longest: number) {
    this.width = Math.max(1, Math.ceil(longest / BLOCKS));
  }

  /** Numbers held. */
  get numbers(): number {
    return this.line.size + this.blocks.length * 6;
  }

  /** Whether a reading at this time comes after all others. */
  put(time: number, value: number): boolean {
    const isLast = time > this.line.lastTime;
    if (!isLast) {
      this.forgetBlocks(time);
    }
    return this.line.put(time, value) && isLast;
  }

  /** Where the readings that are seen one by one begin, of the first `count` ones. */
  rawFrom(count: number): number {
    if (count < RAW) {
      return -Infinity;
    }
    const { width } = this;
    const border = Math.ceil(this.line.time(count - RAW) / width) * width;
    return Math.min(border, Math.floor(this.line.time(count - 1) / width) * width);
  }

  /** Makes the blocks before a time, a border of blocks that a reading follows. */
  buildUntil(border: number): void {
    const { line, width } = this;
    if (border <= this.builtUntil) {
      return;
    }
    let from = this.builtUntil === -Infinity ? 0 : line.countUntil(this.builtUntil - 0.5);
    while (from < line.size && line.time(from) < border) {
      const index = Math.floor(line.time(from) / width);
      const to = line.countUntil((index + 1) * width - 0.5);
      this.blocks.push(summarize(line, index, from, to));
      from = to;
    }
    this.builtUntil = border;
  }

  /** At least so many readings `prune` forgets at a time. */
  forgettable(time: number): number {
    return Math.max(0, this.line.countUntil(time - this.longest - this.width) - 1);
  }

  /** Forgets what no window of a row at `time` or later sees. */
  prune(time: number): void {
    const { line, width } = this;
    const edge = time - this.longest;
    const count = line.countUntil(time);
    const beforeEdge = line.countUntil(edge) - 1;
    const oldest = Math.max(beforeEdge, count - RAW);
    if (oldest <= 0) {
      return;
    }
    const border = Math.floor(line.time(oldest) / width) * width;
    if (oldest > beforeEdge) {
      this.buildUntil(border);
    }
    line.drop(line.countUntil(border - 0.5));
    let unseen = 0;
    while (unseen < this.blocks.length && this.blocks[unseen]!.end <= edge) {
      unseen++;
    }
    this.blocks.splice(0, unseen);
  }

  /** What a restart needs beside the readings: the blocks whose readings are gone. */
  restoreBlocks(blocks: readonly ReadingBlock[]): void {
    this.blocks.push(...blocks);
    const last = blocks.at(-1);
    if (last !== undefined) {
      this.builtUntil = (last.index + 1) * this.width;
    }
  }

  /** Blocks of which readings are gone. */
  get goneBlocks(): ReadingBlock[] {
    const first = this.line.size === 0 ? Infinity : this.line.time(0);
    return this.blocks.filter(({ start }) => start < first);
  }

  /** A reading within the stretch of a block, or the end of its last one, makes it another block. */
  private forgetBlocks(time: number): void {
    const before = this.line.countUntil(time) - 1;
    const from = before < 0 ? time : this.line.time(before);
    const border = Math.floor(from / this.width) * this.width;
    if (border < this.builtUntil) {
      while (this.blocks.length > 0 && this.blocks.at(-1)!.index * this.width >= border) {
        this.blocks.pop();
      }
      this.builtUntil = border;
    }
  }
}

function summarize(line: Timeline, index: number, from: number, to: number): ReadingBlock {
  const moments = new Moments();
  let gap = 0;
  let changes = 0;
  let changed = NaN;
  for (let i = from; i < to; i++) {
    const [time, value] = [line.time(i), line.value(i)];
    const held = line.time(i + 1) - time;
    moments.add(held, value, 0, value, value);
    gap = Math.max(gap, held);
    if (i > from && value !== line.value(i - 1)) {
      changes++;
      changed = time;
    }
  }
  const { mean, m2, low, high } = moments;
  const [first, last] = [line.value(from), line.value(to - 1)];
  return {
    index,
    start: line.time(from),
    end: line.time(to),
    gap,
    mean,
    m2,
    low,
    high,
    first,
    last,
    changes,
    changed,
  };
}
