/** What a signed URL lets its bearer do: write one chunk of one file of one upload, until `expiresAt`. */
export interface UploadTarget {
  uploadId: string;
  part: 'x' | 'y';
  /** Counted from 0. */
  chunk: number;
}
