import { ServiceError } from '../../wire/service-error';

/** What something takes up while it waits. */
interface Size {
  readonly rows: number;
  readonly bytes: number;
}

/** The room of a queue, in rows and in bytes: results that wait for their turn count too. */
export class Room {
  rows = 0;
  bytes = 0;

  constructor(private readonly most: Size) {}

  add({ rows, bytes }: Size): void {
    this.rows += rows;
    this.bytes += bytes;
  }

  remove({ rows, bytes }: Size): void {
    this.rows -= rows;
    this.bytes -= bytes;
  }

  /** Whether there is room for it now. */
  holds({ rows, bytes }: Size): boolean {
    return this.rows + rows <= this.most.rows && this.bytes + bytes <= this.most.bytes;
  }

  /** Rows for which there is room now. */
  rowsLeft(): number {
    return Math.max(0, this.most.rows - this.rows);
  }

  isFull(): boolean {
    return this.rows >= this.most.rows || this.bytes >= this.most.bytes;
  }

  /** The error of a message for which there is no room. */
  full(what: string): ServiceError {
    return new ServiceError(
      'queue.full',
      `The queue is full: ${this.rows} rows, ${Math.ceil(this.bytes / 1024)} KiB wait. ${what} ` +
        'Send fewer messages, or raise batchRows, queue or the concurrency of the config node.',
    );
  }
}
