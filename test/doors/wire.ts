/** What tests reach of src/wire beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export {
  DEFAULT_DIALECT,
  fromWireMetadata,
  routePath,
  toWireFit,
  toWireMetadata,
  toWirePredict,
  toWireTestSetUpload,
  toWireTrainSetUpload,
} from '../../dist/src/wire/dialect';
export type { Parsed } from '../../dist/src/wire/parse-body';
export {
  parseEstimateCost,
  parseFit,
  parseLegacyPredict,
  parsePredict,
} from '../../dist/src/wire/parse-requests';
export { parsePrepareTestSetUpload, parsePrepareTrainSetUpload } from '../../dist/src/wire/parse-uploads';
export {
  joinPredictions,
  type Prediction,
  rowCount,
  slicePrediction,
  toService,
} from '../../dist/src/wire/prediction';
export { type PredictionContext, readPrediction } from '../../dist/src/wire/read-prediction';
export { ERROR_CODES, type ErrorCode, ServiceError, toServiceError } from '../../dist/src/wire/service-error';
export {
  type FitRequest,
  type ModelLimits,
  type ParsedPredictRequest,
  type Usage,
} from '../../dist/src/wire/types';
