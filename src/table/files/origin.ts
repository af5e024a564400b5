import type { FileVersion } from '../storage/table-file';

/** A file on disk; `version` is what it was when it was opened first: it must be that still. */
export interface PathOrigin {
  kind: 'path';
  path: string;
  version?: FileVersion;
}

/** A table that the worker opens by itself: a file on disk, or bytes in shared memory. */
export type Origin = PathOrigin | { kind: 'bytes'; bytes: Uint8Array };

/** A file beyond these does not go up as it is. */
export interface AsIsBounds {
  rows?: number;
  bytes?: number;
}
