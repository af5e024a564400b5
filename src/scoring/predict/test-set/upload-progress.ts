/** Called with the bytes sent, their total, and whether every part begun so far has been sent. */
export type OnUpload = (sentBytes: number, totalBytes: number, allSent: boolean) => void;

/**
 * Adds up the uploads of the parts of a table, several of which are on their way at a time. The share sent never
 * falls: what would lower it, as a part that begins or is sent again, is not reported until it has been made good.
 */
export class UploadProgress {
  private readonly parts: { sent: number; bytes: number }[] = [];
  /** Bytes of the whole table, by those of its first part. */
  private guess = 0;
  private reported = 0;

  /** `rows` are those of the whole table, where that is known: else the share is one of the parts begun. */
  constructor(
    private readonly rows: number | undefined,
    private readonly onUpload: OnUpload,
  ) {}

  /** Takes a part in; the function it returns is called with the bytes sent of it. */
  begin(part: { rows: number; bytes: number }): (sentBytes: number, totalBytes: number) => void {
    if (this.parts.length === 0 && this.rows !== undefined) {
      this.guess = Math.round((part.bytes * this.rows) / Math.max(1, part.rows));
    }
    const own = { sent: 0, bytes: part.bytes };
    this.parts.push(own);
    return (sent, total) => {
      own.sent = sent;
      own.bytes = total;
      this.report();
    };
  }

  private report(): void {
    let sent = 0;
    let begun = 0;
    for (const part of this.parts) {
      sent += part.sent;
      begun += part.bytes;
    }
    const total = Math.max(begun, this.guess);
    const share = total === 0 ? 1 : sent / total;
    if (share >= this.reported) {
      this.reported = share;
      this.onUpload(sent, total, sent >= begun);
    }
  }
}
