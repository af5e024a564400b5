import { ServiceError } from '../../wire/service-error';

/** What a message takes up while it waits. */
interface Size {
  readonly rows: number;
  readonly bytes: number;
}

/** How full a queue is, in rows and in bytes: results that wait to be delivered in order count too. */
export class QueueCapacity {
  rows = 0;
  bytes = 0;

  constructor(private readonly max: Size) {}

  add({ rows, bytes }: Size): void {
    this.rows += rows;
    this.bytes += bytes;
  }

  remove({ rows, bytes }: Size): void {
    this.rows -= rows;
    this.bytes -= bytes;
  }

  /** Whether it fits now. */
  fits({ rows, bytes }: Size): boolean {
    return this.rows + rows <= this.max.rows && this.bytes + bytes <= this.max.bytes;
  }

  /** Rows that fit now. */
  rowsLeft(): number {
    return Math.max(0, this.max.rows - this.rows);
  }

  isFull(): boolean {
    return this.rows >= this.max.rows || this.bytes >= this.max.bytes;
  }

  /** The error of a message that does not fit. */
  full(what: string): ServiceError {
    return new ServiceError(
      'queue.full',
      `The queue is full: ${this.rows} rows, ${Math.ceil(this.bytes / 1024)} KiB wait. ${what} ` +
        'Send fewer messages, or raise batchRows, queue or the concurrency of the config node.',
    );
  }
}
