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
