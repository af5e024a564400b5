/** What tests reach of src/scoring beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export { classCurves, numberCurves } from '../../dist/src/metrics/curves';
export { LEVELS, quantileOf, regressionScores } from '../../dist/src/metrics/regression';
export { rocAuc } from '../../dist/src/metrics/roc-auc';
export { Batcher, type BatcherOptions } from '../../dist/src/scoring/batching/batcher';
export { type QueuedMessage } from '../../dist/src/scoring/batching/queue';
export { Fifo } from '../../dist/src/scoring/batching/queue';
export { OrderedDelivery, Outbox } from '../../dist/src/scoring/batching/queue';
export { decide } from '../../dist/src/scoring/challenger/decision';
export { pairedDifference } from '../../dist/src/scoring/challenger/decision';
export { labelNoise, pinballLosses } from '../../dist/src/scoring/challenger/decision';
export { keepDigests, SEEN, UNCERTAIN, UNSEEN, whichSeen } from '../../dist/src/scoring/challenger/test-rows';
export { chooseTestRows } from '../../dist/src/scoring/challenger/test-rows';
export { usualRows } from '../../dist/src/scoring/challenger/test-rows';
export {
  limitSetOf,
  maxAnswerRows,
  maxTestRows,
  sizeExcess,
  testExcess,
  trainExcess,
  versionNamed,
  versionOf,
} from '../../dist/src/scoring/context/limits';
export { groupBlocks, rowBlocks, standardErrors } from '../../dist/src/scoring/evaluation/blocks';
export { classificationScores } from '../../dist/src/scoring/evaluation/score-rows';
export { causeGroups, importanceBySensor } from '../../dist/src/scoring/explain/causes';
export { causeText } from '../../dist/src/scoring/explain/causes';
export { causesOf } from '../../dist/src/scoring/explain/causes';
export {
  addOffsetsToEffects,
  type Effects,
  joinEffects,
  readEffects,
  sliceEffects,
} from '../../dist/src/scoring/explain/effects';
export { effectsOfMixtures, mixturesPerRow, planMixtures } from '../../dist/src/scoring/explain/effects';
export { ModelCards } from '../../dist/src/scoring/models/model-cards';
export { ModelMismatch } from '../../dist/src/scoring/models/model-mismatch';
export { readCosts } from '../../dist/src/scoring/models/threshold';
export { keptThreshold, thresholdBy } from '../../dist/src/scoring/models/threshold';
export { attach, attachmentOf } from '../../dist/src/scoring/predict/attach';
export { flatColumns } from '../../dist/src/scoring/predict/attach';
export { MAX_PREDICTS, scoreByHalves } from '../../dist/src/scoring/predict/bisection';
export { ALL_DIGITS, tellingDigits } from '../../dist/src/scoring/predict/digits';
export { OwnCopy } from '../../dist/src/scoring/predict/message-table';
export { hasColumns, smallRows } from '../../dist/src/scoring/predict/message-table';
export { driftBin, driftBins } from '../../dist/src/scoring/reference/make-reference';
export { driftOfNumbers } from '../../dist/src/scoring/reference/make-reference';
export { readCurves } from '../../dist/src/scoring/reference/read-reference';
export { isReferenceLosses, readLosses } from '../../dist/src/scoring/reference/read-reference';
export { type Reference } from '../../dist/src/scoring/reference/types';
export { LimitsCache } from '../../dist/src/scoring/services/limits-cache';
export { cutRows, firstRow } from '../../dist/src/scoring/services/on-prem-client';
export { Reach, type ServiceCalls } from '../../dist/src/scoring/services/service';
export { serviceKey } from '../../dist/src/scoring/services/service-key';
export { TrainRows } from '../../dist/src/scoring/services/train-rows';
export {
  chooseHeld,
  HELD,
  KEPT,
  LEFT_OUT,
  MAX_HELD_ROWS,
  planRows,
} from '../../dist/src/scoring/train/holdout-plan';
export { type RowFacts } from '../../dist/src/scoring/train/holdout-plan';
export { readReport } from '../../dist/src/scoring/train/report';
export { littleEvidence, scoreWarnings } from '../../dist/src/scoring/train/score-warnings';
export { type FittedModel } from '../../dist/src/scoring/types';
export { type Evaluation } from '../../dist/src/scoring/types';
export { TrainSetComparison, type Unlike } from '../../dist/src/scoring/unlike/unlike';
export { sortedCopy } from '../../dist/src/util/collections';
