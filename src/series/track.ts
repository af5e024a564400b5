const FIRST_CAPACITY = 16;

/** Times with a number each, ascending and without repeats. It grows at the end and is pruned at the start. */
export class Timeline {
  private times = new Float64Array(FIRST_CAPACITY);
  private values = new Float64Array(FIRST_CAPACITY);
  private head = 0;
  private tail = 0;

  get size(): number {
    return this.tail - this.head;
  }

  time(index: number): number {
    return this.times[this.head + index]!;
  }

  value(index: number): number {
    return this.values[this.head + index]!;
  }

  get lastTime(): number {
    return this.size === 0 ? -Infinity : this.times[this.tail - 1]!;
  }

  /** How many times are at or before this one. */
  countUntil(time: number): number {
    if (this.size === 0 || this.times[this.tail - 1]! <= time) {
      return this.size;
    }
    let low = this.head;
    let high = this.tail - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle]! <= time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - this.head;
  }

  /** Inserts a number in order, or replaces the one at the same time. @returns whether the time is new */
  put(time: number, value: number): boolean {
    const count = this.countUntil(time);
    if (count > 0 && this.time(count - 1) === time) {
      this.values[this.head + count - 1] = value;
      return false;
    }
    this.makeRoom();
    const at = this.head + count;
    if (at < this.tail) {
      this.times.copyWithin(at + 1, at, this.tail);
      this.values.copyWithin(at + 1, at, this.tail);
    }
    this.times[at] = time;
    this.values[at] = value;
    this.tail++;
    return true;
  }

  /** Forgets the oldest `count` entries. */
  drop(count: number): void {
    this.head += Math.max(0, Math.min(count, this.size));
  }

  remove(index: number): void {
    const at = this.head + index;
    this.times.copyWithin(at, at + 1, this.tail);
    this.values.copyWithin(at, at + 1, this.tail);
    this.tail--;
  }

  private makeRoom(): void {
    if (this.tail < this.times.length) {
      return;
    }
    const { size } = this;
    const capacity = this.head > this.times.length / 2 ? this.times.length : this.times.length * 2;
    const [times, values] = [new Float64Array(capacity), new Float64Array(capacity)];
    times.set(this.times.subarray(this.head, this.tail));
    values.set(this.values.subarray(this.head, this.tail));
    this.times = times;
    this.values = values;
    this.head = 0;
    this.tail = size;
  }
}

/** How many newest readings of a sensor are kept individually; older ones are summarized in blocks. */
const RAW = 1024;
/** Blocks per longest window. */
const BLOCKS = 512;

/** A summary of the readings in one interval. States leave `mean` to `high` unused; numbers, `changes` and `changed`. */
interface ReadingBlock {
  /** The interval: [index × width, (index + 1) × width). */
  index: number;
  /** Time of its first reading, and of the first one after the interval. */
  start: number;
  end: number;
  /** The longest time from one reading to the next. */
  gap: number;
  /** Weighted by how long each value holds; m2 is the sum of squared deviations × milliseconds. */
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

/**
 * Weighted mean and squared deviations, combined pairwise: T. F. Chan, G. H. Golub, R. J. LeVeque, Updating formulae and
 * a pairwise algorithm for computing sample variances, 1979.
 */
export class Moments {
  weight = 0;
  mean = 0;
  m2 = 0;
  low = Infinity;
  high = -Infinity;

  copy(): Moments {
    return Object.assign(new Moments(), this);
  }

  /** Adds a value that holds for so long. */
  addValue(weight: number, value: number): void {
    this.low = Math.min(this.low, value);
    this.high = Math.max(this.high, value);
    this.join(weight, value, 0);
  }

  /** Adds the values of a block that holds for so long. */
  addBlock(weight: number, { mean, m2, low, high }: ReadingBlock): void {
    this.low = Math.min(this.low, low);
    this.high = Math.max(this.high, high);
    this.join(weight, mean, m2);
  }

  private join(weight: number, mean: number, m2: number): void {
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
 * The readings of one sensor of one machine, as far back as windows reach. Every answer is a function of the readings
 * alone, whatever order they arrived in: the newest RAW ones are kept individually, older ones in blocks of time with
 * fixed borders.
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

  /** @returns whether the reading is the newest */
  put(time: number, value: number): boolean {
    const isLast = time > this.line.lastTime;
    if (!isLast) {
      this.forgetBlocks(time);
    }
    return this.line.put(time, value) && isLast;
  }

  /** The time from which readings are used individually, looking at the first `count` of them. */
  rawFrom(count: number): number {
    if (count < RAW) {
      return -Infinity;
    }
    const { width } = this;
    const border = Math.ceil(this.line.time(count - RAW) / width) * width;
    return Math.min(border, Math.floor(this.line.time(count - 1) / width) * width);
  }

  /** Builds the blocks before a block border. */
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

  /** A lower bound on how many readings `prune` would forget. */
  forgettable(time: number): number {
    return Math.max(0, this.line.countUntil(time - this.longest - this.width) - 1);
  }

  /** Forgets what no window of a row at `time` or later reaches. */
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

  /** Restores blocks whose readings are gone. */
  restoreBlocks(blocks: readonly ReadingBlock[]): void {
    this.blocks.push(...blocks);
    const last = blocks.at(-1);
    if (last !== undefined) {
      this.builtUntil = (last.index + 1) * this.width;
    }
  }

  /** Blocks whose readings are no longer held: a restart needs them in addition to the readings. */
  get goneBlocks(): ReadingBlock[] {
    const first = this.line.size === 0 ? Infinity : this.line.time(0);
    return this.blocks.filter(({ start }) => start < first);
  }

  /** Drops blocks that a reading at this time changes. */
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
    moments.addValue(held, value);
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

/**
 * The value of a timeline at a time: numbers are interpolated linearly, states hold until the next reading.
 *
 * @param look.reach undefined where both neighbours are further away than this; one twice as far away is ignored
 * @param look.count only the first `count` readings are used; default all
 */
export function valueAt(
  line: Timeline,
  time: number,
  { reach, isNumber, count = line.size }: { reach: number; isNumber: boolean; count?: number },
): number | undefined {
  const after = Math.min(line.countUntil(time), count);
  const before = after - 1;
  if (before >= 0 && line.time(before) === time) {
    return line.value(before);
  }
  const isNearBefore = before >= 0 && time - line.time(before) <= reach;
  const isNearAfter = after < count && line.time(after) - time <= reach;
  if (!isNearBefore && !isNearAfter) {
    return undefined;
  }
  if (!isNumber) {
    return before >= 0 ? line.value(before) : undefined;
  }
  // Interpolation towards a very distant reading would invent values.
  if (before < 0 || (after < count && time - line.time(before) > 2 * reach)) {
    return line.value(after);
  }
  if (after >= count || line.time(after) - time > 2 * reach) {
    return line.value(before);
  }
  const [from, to] = [line.time(before), line.time(after)];
  const [first, second] = [line.value(before), line.value(after)];
  return first + ((second - first) * (time - from)) / (to - from);
}
