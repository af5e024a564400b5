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
export {
  type Parsed,
  parseEstimateCost,
  parseFit,
  parseLegacyPredict,
  parsePredict,
  parsePrepareTestSetUpload,
  parsePrepareTrainSetUpload,
} from '../../dist/src/wire/parse-requests';
export {
  joinPredictions,
  type Prediction,
  type PredictionContext,
  readPrediction,
  rowCount,
  slicePrediction,
  toService,
} from '../../dist/src/wire/prediction/index';
export { ERROR_CODES, type ErrorCode, ServiceError, toServiceError } from '../../dist/src/wire/service-error';
export {
  type FitRequest,
  type ModelLimits,
  type ParsedPredictRequest,
  type Usage,
} from '../../dist/src/wire/types';
export { OUTPUT_TYPES, takesQuantiles } from '../../dist/src/wire/vocabulary';
