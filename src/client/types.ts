import type { Readable } from 'node:stream';

import type { Prediction } from '../wire/prediction';
import type { FitRequest, LegacyPredictRequest, ParsedPredictRequest, PredictMetadata } from '../wire/types';

export interface CallOptions {
  signal?: AbortSignal;
  /** Overrides the client's own for this call, in milliseconds. */
  timeoutMs?: number;
  /** Called as bytes leave. After a renewed upload the count starts again. */
  onProgress?: (sentBytes: number, totalBytes: number) => void;
}

export interface TrainSetOptions extends CallOptions {
  /**
   * Called with the id that the service will keep the train set under, before a byte of it leaves; it is waited for.
   * After a renewed upload it is called again. Not called where the service has the same train set already.
   */
  onPrepared?: (trainSetUploadId: string) => void | Promise<void>;
}

/** A file that can be opened again, for retries and chunks. `end` is exclusive; `hash` as S 2.1. */
export interface UploadSource {
  format: 'csv' | 'parquet';
  bytes: number;
  hash: string;
  /** The whole content, where it is in memory anyway: a small one is sent without a stream. */
  readonly content?: Uint8Array;
  open(start?: number, end?: number): Readable;
}

export interface TrainSetUpload {
  x: UploadSource;
  y: UploadSource;
  description?: string;
  /**
   * Hashes to announce instead of the CRC32C of each file: SHA-256 in hexadecimal, for a service that takes them. Two
   * train sets that share their CRC32C and sizes are one to the service otherwise.
   */
  digests?: { x: string; y: string };
  /** Upload even if the service has the same bytes already (S 4.1 `force_reupload`). */
  force?: boolean;
  /** Ask for chunks (S 2.1 `use_chunks`); the server decides. */
  chunks?: boolean;
}

export interface TestSetUpload {
  fitted_train_set_id: string;
  x: UploadSource;
  /** Send no hash, so that nothing is taken for a duplicate. */
  force?: boolean;
  chunks?: boolean;
}

export type FitCall = FitRequest;

export interface FitOptions extends CallOptions {
  /** Called with the id of a fit that goes on by itself in the service: `resumeFit` waits for it. */
  onPending?: (fittedTrainSetId: string) => void;
  /** Submit the fit and poll it, if the service has a route for that: for large train sets. */
  background?: boolean;
  /** How long such a fit may take, in milliseconds. Default two hours. */
  backgroundMs?: number;
}

export interface PredictCall extends ParsedPredictRequest {
  /** Repeat a predict even if it may already have been metered; a free one is repeated anyhow. Default false. */
  retryAmbiguous?: boolean;
  /** Rows of the test set and classes of the model, if known: they bound the size of the answer. */
  rows?: number;
  classes?: number;
  /** Most causes per row: they bound the size of the answer too. */
  causes?: number;
}

export interface PredictResult {
  prediction: Prediction;
  metadata: PredictMetadata;
  rows: number;
}

/** Part of a body that can be sent again: JSON text of known length. */
export type BodyPart = Pick<UploadSource, 'bytes' | 'open'>;

/** Train rows and test rows in one request, or test rows for a model that the endpoint has kept. */
export interface RowsPredictCall extends Pick<ParsedPredictRequest, 'task' | 'output_type' | 'quantiles'> {
  svc_config?: Record<string, unknown>;
  /** Rows as JSON arrays, with commas between them. */
  train?: { x: BodyPart; y: BodyPart };
  test: BodyPart;
  /** A model that an earlier answer named, in place of the train rows. */
  model_id?: string;
  /** Test rows, and classes of the model where they are known. */
  rows: number;
  classes?: number;
}

export interface RowsPredictResult extends PredictResult {
  /** The endpoint has kept the model under this. */
  model_id?: string;
}

export interface LegacyPredictCall {
  data: LegacyPredictRequest;
  /** Rows to predict, as CSV. */
  file: UploadSource;
  retryAmbiguous?: boolean;
}

export interface LegacyPredictResult extends PredictResult {
  duration_seconds?: number;
  used_credits?: number;
  remaining_quota?: number;
  params?: Record<string, unknown>;
}

/** How many requests a service allows in a span of time, by its last answer. */
export interface RateLimit {
  limit: number;
  remaining: number;
  /** When the span ends, as the service says it: seconds from then, or since the epoch. */
  reset?: number;
}

/** Kinds of calls with slots of their own. `info` are limits and cost. */
export type CallKind = 'fit' | 'predict' | 'upload' | 'info';
