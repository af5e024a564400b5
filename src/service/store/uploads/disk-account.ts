import { Refusal } from '../../refusal';

/** Counts the bytes that uploads take on disk before they are complete. */
export class DiskAccount {
  private used = 0;

  /** @param onTaken called when more is used: something else may have to go */
  constructor(
    private readonly maxBytes: number,
    private readonly onTaken: () => void,
  ) {}

  get bytes(): number {
    return this.used;
  }

  /** @throws Refusal 503 where unfinished uploads alone would take more than there may be */
  take(bytes: number): void {
    if (this.used + bytes > this.maxBytes) {
      throw new Refusal({
        status: 503,
        errorCode: 'STORAGE_FAILED',
        message:
          `Uploads that have not ended take ${this.used} of the ${this.maxBytes} bytes that this service may use: ` +
          'send this file again once others are complete.',
        retryable: true,
        retryAfter: 5,
      });
    }
    this.used += bytes;
    this.onTaken();
  }

  give(bytes: number): void {
    this.used -= bytes;
  }
}
