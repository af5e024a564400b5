import { Refusal } from '../../refusal';

/** Counts the bytes that uploads take on disk before they are complete. */
export class DiskAccount {
  private used = 0;

  /** @param onWritten called when more is used: something else may have to go */
  constructor(
    private readonly bounds: { readonly maxBytes: number },
    private readonly onWritten: () => void,
  ) {}

  get bytes(): number {
    return this.used;
  }

  /** Reserves bytes that are about to be written. @throws Refusal 503 where unfinished uploads alone would take more than there may be */
  take(bytes: number): void {
    const { maxBytes } = this.bounds;
    if (this.used + bytes > maxBytes) {
      throw new Refusal({
        status: 503,
        errorCode: 'STORAGE_FAILED',
        message:
          `Uploads that have not ended take ${this.used} of the ${maxBytes} bytes that this service may use: ` +
          'send this file again once others are complete.',
        retryable: true,
        retryAfter: 5,
      });
    }
    this.used += bytes;
  }

  /** They are on the disk, which had room for them: nothing goes for those that found none. */
  written(): void {
    this.onWritten();
  }

  give(bytes: number): void {
    this.used -= bytes;
  }
}
