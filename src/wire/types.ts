import type { Static } from '@sinclair/typebox';

import type {
  EstimateCostRequestSchema,
  EstimateCostResponseSchema,
  FileInfoSchema,
  FileUploadInfoSchema,
  FitResponseSchema,
  FlatFitRequestSchema,
  FlatPredictRequestSchema,
  LegacyPredictRequestSchema,
  LimitSetSchema,
  ModelLimitsResponseSchema,
  PredictResponseSchema,
  PrepareTestSetUploadRequestSchema,
  PrepareTestSetUploadResponseSchema,
  PrepareTrainSetUploadRequestSchema,
  PrepareTrainSetUploadResponseSchema,
  SettingsResponseSchema,
} from './schemas';

/*
 * The bodies of the wire, as their schemas say. Only types are imported from there: loading this file loads no
 * TypeBox.
 */

/** An object whose properties of null were left out, at any depth: null means the same as a missing property. */
export type WithoutNulls<T> = T extends readonly unknown[] | null
  ? Exclude<T, null>
  : T extends object
    ? { [Name in keyof T]: WithoutNulls<Exclude<T[Name], null>> }
    : T;

/** A body that may hold more than the specification shows. */
type Open<T> = T & Record<string, unknown>;

/** Describes one file to upload (S 2.1), in the naming of the schema. Sizes in bytes, hash as `crc32c` of S 2.1. */
export type FileInfo = Static<typeof FileInfoSchema>;

/** Where and how to send one file (S 2.2). `expires_at` is only a hint: its unit is not specified. */
export type FileUploadInfo = Static<typeof FileUploadInfoSchema>;

/** The model configuration object (S 2.6). The service may know further properties. */
export type ModelConfig = Record<string, unknown>;

/** S 4.1 */
export type PrepareTrainSetUploadRequest = Static<typeof PrepareTrainSetUploadRequestSchema>;
export type PrepareTrainSetUploadResponse = Static<typeof PrepareTrainSetUploadResponseSchema>;

/** S 4.2 */
export type PrepareTestSetUploadRequest = Static<typeof PrepareTestSetUploadRequestSchema>;
export type PrepareTestSetUploadResponse = Static<typeof PrepareTestSetUploadResponseSchema>;

/**
 * Columns of the features by which a thinking fit draws its folds. Not of the specification: the hosted service takes
 * either a group, with or without the time in it, or the time of all rows. Shape A has no place for them.
 */
export interface ThinkingFolds {
  /** Rows with the same value here, or in all of these, stay together. */
  group_col?: string | string[];
  /** With `group_col`: the time of the rows. */
  group_time_col?: string;
  /** Without `group_col`: the time of the rows. */
  time_col?: string;
}

/** S 4.3, with the names of shape A; the dialect decides which shape goes over the wire. Times in seconds. */
export type FitRequest = Omit<Static<typeof FlatFitRequestSchema>, 'svc_config' | 'async_mode'> & {
  svc_config?: ModelConfig;
  thinking_folds?: ThinkingFolds;
};
export type FitResponse = Open<Static<typeof FitResponseSchema>>;

/**
 * S 4.4, flattened: `task_config` and `predict_params` exist on the wire only. `quantiles` are levels in (0, 1), sent
 * with the output types `quantiles` and `main` only.
 */
export type ParsedPredictRequest = Static<typeof FlatPredictRequestSchema> & { svc_config?: ModelConfig };

/** S 2.7. `classes` are the labels in the order of the columns of `probas`. */
export type PredictMetadata = Open<
  WithoutNulls<NonNullable<Static<typeof PredictResponseSchema>['metadata']>> & { svc_config?: ModelConfig }
>;

/** Limits of one model version (S 4.5). A field that is missing does not bind. */
export type LimitSet = WithoutNulls<Static<typeof LimitSetSchema>>;

/** S 4.5 */
export type ModelLimits = WithoutNulls<Static<typeof ModelLimitsResponseSchema>>;

/** The limits, and how large train sets are fitted. */
export type ServiceSettings = WithoutNulls<Static<typeof SettingsResponseSchema>>;

/**
 * What an account has used, in tokens; a limit of -1 is none. Where the service tells of a day and a month, the first two
 * are those of the budget that is nearer to its end.
 */
export interface Usage {
  current_usage: number;
  usage_limit: number;
  reset_time?: string;
  daily_tokens_used?: number;
  daily_token_limit?: number;
  monthly_tokens_used?: number;
  monthly_token_limit?: number;
}

/** S 4.6 */
export type EstimateCostRequest = Static<typeof EstimateCostRequestSchema>;
export type EstimateCostResponse = Static<typeof EstimateCostResponseSchema>;

/** The `data` part of the deprecated multipart route (S 4.7). */
export type LegacyPredictRequest = Static<typeof LegacyPredictRequestSchema>;

/** What is said of the distribution of each row (`main`): quantiles [quantile][row]; NaN where the service says null. */
export interface Statistics {
  mean: number[];
  median: number[];
  mode: number[];
  quantiles: number[][];
}

/**
 * One distribution per row (S 4.4 `full`): borders [B + 1], infinite at the ends where the service says null; logits
 * [row][B], −Infinity where it says null.
 */
export interface FullDistribution extends Statistics {
  borders: number[];
  logits: number[][];
}
