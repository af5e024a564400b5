import type { Column, ColumnBatch, TableSource } from '../../table';
import type { QueuedMessage } from '../batching/queued-message';
import type { ModelReference, ResolvedModel } from '../models/model-request';
import type { Hooks, PredictOutcome, PredictRequest, UploadCard } from '../types';
import type { OwnCopy } from './own-copy';
import type { SmallRows } from './small-rows';

/** The rows of a message, by the way in which they are read. */
export type MessageTable =
  /** One or a few row objects: read when their batch is put together. */
  | { kind: 'small'; small: SmallRows; checked: readonly Column[] }
  /** In memory, and not yet read. */
  | { kind: 'value'; own: OwnCopy }
  /** Read on arrival. */
  | { kind: 'batch'; source: TableSource; value: unknown; batch: ColumnBatch; columns: readonly Column[] }
  /**
   * Too large to hold, or of unknown length: read while it is sent. `asIs`: a Parquet file on disk which has the
   * columns already, and may go up byte for byte.
   */
  | { kind: 'stream'; source: TableSource; value: unknown; columns: readonly Column[]; asIs?: boolean }
  /** Uploaded before; `card` where it was uploaded from here. */
  | { kind: 'upload'; id: string; card: UploadCard | undefined }
  /** For the deprecated route. */
  | { kind: 'legacy' };

/** A message on its way through a predictor. */
export interface PredictMessage {
  request: PredictRequest;
  hooks: Hooks | undefined;
  choice: ModelReference;
  /** The model as it was known on arrival. */
  target: ResolvedModel | undefined;
  table: MessageTable | undefined;
  /** Cells of its table that were taken as missing, by column. */
  cleaned?: Record<string, number>;
}

export type QueuedPredict = QueuedMessage<PredictMessage, PredictOutcome>;
