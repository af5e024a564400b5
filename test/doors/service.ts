/** What tests reach of src/service beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export { readCommandLine } from '../../dist/src/service/command-line';
export { assertJsonShape } from '../../dist/src/service/http/json-shape';
export { answerLate } from '../../dist/src/service/http/late-answer';
export { envelopeFor } from '../../dist/src/service/http/reply';
export { signUpload, verifyUpload } from '../../dist/src/service/http/signed-url';
export {
  BYTES_PER_CELL,
  decoderBytes,
  machineLimits,
  modelCacheBytes,
  modelLimits,
} from '../../dist/src/service/limits';
export { type ResolvedOptions, resolveOptions, type ServiceOptions } from '../../dist/src/service/options';
export { type ServiceHandle, startService } from '../../dist/src/service/process/start';
export { type RestartTimes, type ServiceThread, Supervisor } from '../../dist/src/service/process/supervisor';
export { RateLimiter } from '../../dist/src/service/rate-limit';
export { invalid, Refusal, toRefusal } from '../../dist/src/service/refusal';
export { runService } from '../../dist/src/service/service';
export {
  type FeatureShape,
  isModelEntry,
  isUploadEntry,
  type ModelEntry,
  type UploadEntry,
} from '../../dist/src/service/store/entries/entries';
export { EntryStore, type StoredEntry } from '../../dist/src/service/store/entries/entry-store';
export { type FitRecord, FitRecords } from '../../dist/src/service/store/fit-records';
export { type Bounds, capFor, Retention } from '../../dist/src/service/store/retention';
export { openStore, type Store } from '../../dist/src/service/store/store';
export { unusableFolder } from '../../dist/src/service/store/unusable-folder';
export { DiskAccount } from '../../dist/src/service/store/uploads/disk-account';
export { isCrc32c, normalHash } from '../../dist/src/service/store/uploads/hashes';
export { type PutBody } from '../../dist/src/service/store/uploads/part-writer';
export { Uploads } from '../../dist/src/service/store/uploads/uploads';
export { LEARNER } from '../../dist/src/service/version';
export { openUpload, readFeatures } from '../../dist/src/service/work/data/columns';
export { LastRead, RowStore } from '../../dist/src/service/work/data/row-store';
export { SpillFile } from '../../dist/src/service/work/data/spill-file';
export { compareLabels } from '../../dist/src/service/work/data/target';
export { TextDictionary } from '../../dist/src/service/work/data/text-dictionary';
export { TextNeed } from '../../dist/src/service/work/data/text-need';
export { canonical } from '../../dist/src/service/work/fit/canonical';
export { FitThreads } from '../../dist/src/service/work/fit/fit-threads';
export { FoldProgress } from '../../dist/src/service/work/fit/fold-progress';
export { trainWithHelpers } from '../../dist/src/service/work/fit/folds';
export { predictPatience, readPatience } from '../../dist/src/service/work/pool/patience';
export { WorkerPool } from '../../dist/src/service/work/pool/pool';
export { assertAnswerSize } from '../../dist/src/service/work/predict/answer-size';
export { ModelCache } from '../../dist/src/service/work/predict/model-cache';
export { predictionJson } from '../../dist/src/service/work/predict/prediction-json';
