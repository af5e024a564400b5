/** Lets a number of pieces of work run at once; a bounded number of others waits in the order in which they came. */
export class Turnstile {
  private readonly waiting: (() => void)[] = [];

  /** @param refusal what is thrown where too many wait already */
  constructor(
    private free: number,
    private readonly maxWaiting: number,
    private readonly refusal: () => Error,
  ) {}

  async run<R>(work: () => Promise<R>): Promise<R> {
    if (this.free > 0) {
      this.free -= 1;
    } else if (this.waiting.length >= this.maxWaiting) {
      throw this.refusal();
    } else {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) {
        this.free += 1;
      } else {
        next();
      }
    }
  }
}
