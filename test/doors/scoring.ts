/** What tests reach of src/models, predict, train and connection beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export { classCurves, numberCurves } from '../../dist/src/metrics/curves';
export { LEVELS, quantileOf, regressionScores } from '../../dist/src/metrics/regression';
export { rocAuc } from '../../dist/src/metrics/roc-auc';
export type { Evaluation, FittedModel, Reference } from '../../dist/src/models/cards';
export {
  classificationScores,
  groupBlocks,
  rowBlocks,
  standardErrors,
} from '../../dist/src/models/evaluation';
export {
  chooseLimits,
  chooseVersion,
  maxAnswerRows,
  maxTestRows,
  sizeExcess,
  testExcess,
  trainExcess,
  versionNamed,
} from '../../dist/src/models/limits';
export { ModelCards } from '../../dist/src/models/model-cards';
export { ModelMismatch } from '../../dist/src/models/model-mismatch';
export { cutRows, firstRow } from '../../dist/src/models/on-prem-client';
export { driftBin, driftBins, driftOfNumbers } from '../../dist/src/models/reference';
export { isReferenceLosses, readCurves, readLosses } from '../../dist/src/models/reference-files';
export { LimitsCache, Reach, type ServiceCalls } from '../../dist/src/models/service';
export { serviceKey } from '../../dist/src/models/service-kind';
export { ServiceSection } from '../../dist/src/models/service-section';
export { keptThreshold, readCosts, thresholdBy } from '../../dist/src/models/threshold';
export { TrainRows } from '../../dist/src/models/train-rows';
export { ALL_DIGITS, flatColumns, predictionColumns, tellingDigits } from '../../dist/src/predict/attach';
export { Batcher, type BatcherOptions } from '../../dist/src/predict/batcher';
export {
  addOffsetsToEffects,
  causeGroups,
  causeText,
  type Effects,
  effectsOfMixtures,
  importanceBySensor,
  joinEffects,
  mixturesPerRow,
  planMixtures,
  readEffects,
  sliceEffects,
  writeCauses,
} from '../../dist/src/predict/causes';
export { hasColumns, smallRows } from '../../dist/src/predict/message-table';
export { Fifo, OrderedDelivery, Outbox, type QueuedMessage } from '../../dist/src/predict/queue';
export { MAX_PREDICTS, scoreByHalves } from '../../dist/src/predict/test-set';
export { TrainSetComparison, type Unlike } from '../../dist/src/predict/unlike';
export { decide, labelNoise, pairedDifference, pinballLosses } from '../../dist/src/train/decision';
export {
  chooseHeld,
  HELD,
  KEPT,
  LEFT_OUT,
  MAX_HELD_ROWS,
  planRows,
  type RowFacts,
} from '../../dist/src/train/holdout-plan';
export { readReport } from '../../dist/src/train/report';
export { littleEvidence, scoreWarnings } from '../../dist/src/train/score-warnings';
export {
  chooseTestRows,
  keepDigests,
  SEEN,
  UNCERTAIN,
  UNSEEN,
  usualRows,
  whichSeen,
} from '../../dist/src/train/test-rows';
export { sortedCopy } from '../../dist/src/util/collections';
