/**
 * The face for programs: train and predict on tables, rows and train sets from readings, and the parts that this is made of: the service's client, the
 * embedded service, the table functions and the errors.
 * None of them needs Node-RED.
 */
export type { Advice, Advised, VaryColumn } from './advise';
export type { AnomalyAnswer, AnomalyChange, AnomalyNote, AnomalyProgress } from './anomaly';
export type {
  CallOptions,
  ClientOptions,
  FitCall,
  PredictCall,
  PredictResult,
  TestSetUpload,
  TrainSetOptions,
  TrainSetUpload,
  UploadSource,
} from './client';
export { ServiceClient } from './client';
export {
  type AdviceWish,
  type Asking,
  connect,
  type ConnectOptions,
  type GivenTable,
  type Tabular,
  type Training,
} from './connect';
export type { Challenger, ModelCard, PredictOutcome } from './connection';
export {
  anomalies,
  type AnomalyMachines,
  type AnomalyProgramOptions,
  type AnomalyPushOptions,
} from './program-readings';
export {
  series,
  type SeriesAnswer,
  type SeriesProgramOptions,
  type SeriesPushOptions,
  type SeriesRows,
  type SeriesTraining,
} from './program-readings';
export {
  closeEncoder,
  type Column,
  type ColumnBatch,
  type ColumnType,
  crc32c,
  crc32cToBase64,
  encodeBatches,
  encodeTrainSet,
  type Label,
  openTable,
  openTableFile,
  profileTable,
  readBatches,
  readRows,
  type TableFile,
  type TableProfile,
  type TableSource,
} from './program-table';
export type { RowAddress, SeriesOutcome, SeriesProgress, SeriesReading, SeriesRow } from './series';
export type { ServiceHandle, ServiceOptions } from './service';
export { startService } from './service';
export {
  type AlarmOptions,
  Watch,
  type WatchAnswer,
  type WatchChange,
  type WatchedModel,
  watchedModel,
  type WatchOptions,
  type WatchReport,
} from './watch';
export type { Dialect } from './wire/dialect';
export type { Prediction } from './wire/prediction';
export type { ErrorCode, ServiceErrorCause } from './wire/service-error';
export { ERROR_CODES, ServiceError } from './wire/service-error';
export type { ModelLimits } from './wire/types';
export type { OutputType, Task } from './wire/vocabulary';
