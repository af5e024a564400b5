/** What tests reach of src/service beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export { readCommandLine } from '../../dist/src/service/command-line';
export { assertJsonShape } from '../../dist/src/service/http/body';
export { answerLate, envelopeFor } from '../../dist/src/service/http/reply';
export { signUpload, verifyUpload } from '../../dist/src/service/http/signed-url';
export {
  BYTES_PER_CELL,
  decoderBytes,
  machineLimits,
  modelCacheBytes,
  modelLimits,
  type ResolvedOptions,
  resolveOptions,
  type ServiceOptions,
} from '../../dist/src/service/options';
export {
  type RestartTimes,
  type ServiceHandle,
  type ServiceThread,
  startService,
  Supervisor,
} from '../../dist/src/service/process/start';
export { RateLimiter } from '../../dist/src/service/rate-limit';
export { invalid, Refusal, toRefusal } from '../../dist/src/service/refusal';
export { runService } from '../../dist/src/service/service';
export {
  type FeatureShape,
  isModelEntry,
  isUploadEntry,
  type ModelEntry,
  type UploadEntry,
} from '../../dist/src/service/store/entries';
export { EntryStore, type StoredEntry } from '../../dist/src/service/store/entry-store';
export { type FitRecord, FitRecords } from '../../dist/src/service/store/fit-records';
export { DiskAccount, isCrc32c, normalHash, type PutBody } from '../../dist/src/service/store/parts';
export { type Bounds, capFor, Retention } from '../../dist/src/service/store/retention';
export { openStore, type Store, unusableFolder } from '../../dist/src/service/store/store';
export { Uploads } from '../../dist/src/service/store/uploads';
export { LEARNER } from '../../dist/src/service/version';
export { openUpload, readFeatures } from '../../dist/src/service/work/columns';
export { canonical } from '../../dist/src/service/work/fit-request';
export { FitThreads } from '../../dist/src/service/work/fits';
export { FoldProgress, trainWithHelpers } from '../../dist/src/service/work/folds';
export { ModelCache } from '../../dist/src/service/work/model-cache';
export { WorkerPool } from '../../dist/src/service/work/pool';
export { predictPatience, readPatience } from '../../dist/src/service/work/pool-thread';
export { assertAnswerSize, predictionJson } from '../../dist/src/service/work/prediction-json';
export { compareLabels } from '../../dist/src/service/work/target';
export {
  LastRead,
  RowStore,
  SpillFile,
  TextDictionary,
  TextNeed,
} from '../../dist/src/service/work/text-columns';
