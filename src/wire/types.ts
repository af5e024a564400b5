/** Task of a model (S 4.3). */
export type Task = 'classification' | 'regression';

/** What a predict answers with (S 4.4): the first two for classification, the others for regression. */
export type OutputType = 'probas' | 'preds' | 'mean' | 'median' | 'mode' | 'quantiles' | 'full';

/** A label of a classification target as JSON can carry it. */
export type Label = string | number | boolean;

export const OUTPUT_TYPES: Readonly<Record<Task, readonly OutputType[]>> = {
  classification: ['probas', 'preds'],
  regression: ['mean', 'median', 'mode', 'quantiles', 'full'],
};

/** The output type that a predict without one answers with (S 4.4). */
export const DEFAULT_OUTPUT_TYPE: Readonly<Record<Task, OutputType>> = {
  classification: 'probas',
  regression: 'mean',
};

/** The quantiles of a `quantiles` or `full` prediction where none are asked for. */
export const DEFAULT_QUANTILES: readonly number[] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/** The systems that a fit can apply (S 4.3). */
export const SYSTEMS = ['preprocessing', 'text', 'thinking'] as const;

export type System = (typeof SYSTEMS)[number];

/** Describes one file to upload (S 2.1), in the naming of the schema. Sizes in bytes, hash as `crc32c` of S 2.1. */
export interface FileInfo {
  format: 'csv' | 'parquet';
  hash?: string | null;
  size_bytes?: number | null;
  use_chunks?: boolean;
}

/** Where and how to send one file (S 2.2). `expires_at` is only a hint: its unit is not specified. */
export interface FileUploadInfo {
  signed_urls: string[];
  expires_at: number;
  required_headers: Record<string, string>;
}

/** The model configuration object (S 2.6). The service may know further properties. */
export type ModelConfig = Record<string, unknown>;

/** S 4.1 */
export interface PrepareTrainSetUploadRequest {
  x_train_info: FileInfo;
  y_train_info: FileInfo;
  description?: string | null;
  force_reupload?: boolean;
}

export interface PrepareTrainSetUploadResponse {
  train_set_upload_id: string;
  x_train_info: FileUploadInfo;
  y_train_info: FileUploadInfo;
}

/** S 4.2 */
export interface PrepareTestSetUploadRequest {
  fitted_train_set_id: string;
  x_test_info: FileInfo;
}

export interface PrepareTestSetUploadResponse {
  test_set_upload_id: string;
  x_test_info: FileUploadInfo;
}

/** S 4.3, with the names of shape A; the dialect decides which shape goes over the wire. Times in seconds. */
export interface FitRequest {
  train_set_upload_id: string;
  task: Task;
  svc_systems?: System[];
  svc_config?: ModelConfig;
  thinking_effort?: 'medium' | 'high';
  thinking_timeout_s?: number;
  thinking_effort_metric?: string;
  force_refit?: boolean;
}

export interface FitResponse {
  fitted_train_set_id: string;
  [name: string]: unknown;
}

/** S 4.4, flattened: `task_config` and `predict_params` exist on the wire only. */
export interface PredictRequest {
  test_set_upload_id: string;
  fitted_train_set_id: string;
  task: Task;
  output_type?: OutputType;
  /** Levels in (0, 1), sent with output type `quantiles` only. */
  quantiles?: number[];
  svc_config?: ModelConfig;
  force_refit?: boolean;
}

/** S 2.7 */
export interface PredictMetadata {
  test_set_num_rows?: number;
  test_set_num_cols?: number;
  package_version?: string;
  task?: string;
  /** Labels in the order of the columns of `probas`. */
  classes?: Label[];
  svc_config?: ModelConfig;
  [name: string]: unknown;
}

/** Limits of one model version (S 4.5). A field that is missing doesn't bind. */
export interface LimitSet {
  train_set_max_rows?: number;
  train_set_max_cells?: number;
  test_set_max_rows?: number;
  max_classes?: number;
  max_cols?: number;
  test_set_max_rows_w_full_regression_output?: number;
  predict_row_pairs_budget?: number;
  test_set_max_cells?: number;
}

/** S 4.5 */
export interface ModelLimits {
  default_model_version?: string;
  max_model_limit?: LimitSet;
  model_limits?: Record<string, LimitSet>;
  dataset_max_size_bytes?: number;
}

/** S 4.6 */
export interface EstimateCostRequest {
  model_version?: string;
  operation: string;
  train_rows?: number;
  test_rows?: number;
  raw_columns?: number;
  n_estimators?: number;
}

export interface EstimateCostResponse {
  estimated_cost: number;
}

/** The `data` part of the deprecated multipart route (S 4.7). */
export interface LegacyPredictRequest {
  model_id: string;
  task: Task;
  systems?: string[];
  n_estimators?: number;
  model_path?: string;
  categorical_features_indices?: number[];
  softmax_temperature?: number;
  average_before_softmax?: boolean;
  ignore_pretraining_limits?: boolean;
  inference_precision?: 'float32' | 'float16' | 'auto';
  random_state?: number;
  balance_probabilities?: boolean;
  output_type?: 'probas' | 'preds' | 'mean' | 'full';
}

/** One distribution per row (S 4.4 `full`): quantiles [quantile][row], borders [B + 1], logits [row][B]. */
export interface FullDistribution {
  mean: number[];
  median: number[];
  mode: number[];
  quantiles: number[][];
  borders: number[];
  logits: number[][];
}
