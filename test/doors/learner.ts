/** What tests reach of src/learner beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export { fitCalibration, mixWithPriors } from '../../dist/src/learner/calibration/calibrate';
export {
  bucketLogits,
  cumulativeOf,
  modeOf,
  quantilesOf,
} from '../../dist/src/learner/calibration/distribution';
export { BlockRoom } from '../../dist/src/learner/explain/block-room';
export { allRows } from '../../dist/src/learner/explain/compared';
export { EffectTable } from '../../dist/src/learner/explain/effect-table';
export { makeFollower } from '../../dist/src/learner/explain/follower';
export { keptWays } from '../../dist/src/learner/explain/kept-ways';
export { leafBlocks } from '../../dist/src/learner/explain/leaf-blocks';
export { addLeafEffects } from '../../dist/src/learner/explain/leaf-effects';
export { LeafWalk } from '../../dist/src/learner/explain/leaf-walk';
export { drawOrders, mixturesOf } from '../../dist/src/learner/explain/orders';
export { sharedProcess } from '../../dist/src/learner/explain/product-steps';
export { quadratureOf } from '../../dist/src/learner/explain/products';
export { ReachedSubtrees } from '../../dist/src/learner/explain/reached-subtrees';
export { stepScores } from '../../dist/src/learner/explain/step-scores';
export { cutTrees } from '../../dist/src/learner/explain/subtrees';
export { binOf, findBorders } from '../../dist/src/learner/features/binning';
export { commonTokens } from '../../dist/src/learner/features/common-tokens';
export { datePart, recurringParts } from '../../dist/src/learner/features/dates';
export type { ColumnSpec } from '../../dist/src/learner/features/encode';
export { finerBorders } from '../../dist/src/learner/features/finer-borders';
export { findNumber, tokensOf } from '../../dist/src/learner/features/tokens';
export { addGram, factorise, invert } from '../../dist/src/learner/gaussian/dense';
export { descend } from '../../dist/src/learner/gaussian/descend';
export { evidenceOf, startOf } from '../../dist/src/learner/gaussian/evidence';
export { inducingRows } from '../../dist/src/learner/gaussian/inducing';
export { kernelRow, makeDimensions, positions } from '../../dist/src/learner/gaussian/kernel';
export { denseLogistic } from '../../dist/src/learner/gaussian/logistic';
export { fitProcess } from '../../dist/src/learner/gaussian/process';
export { gaussianScores } from '../../dist/src/learner/gaussian/scores';
export { Slopes } from '../../dist/src/learner/gaussian/slopes';
export { makeDesign, makeTerms, sparse, termValue } from '../../dist/src/learner/linear/design';
export { fitLinear, tablesOf, valueAlong } from '../../dist/src/learner/linear/linear';
export { logistic } from '../../dist/src/learner/linear/logistic';
export { cholesky, gram, solve } from '../../dist/src/learner/math/matrix';
export { exp, log, sigmoid } from '../../dist/src/learner/math/numeric';
export { placesInOrder, sorted } from '../../dist/src/learner/math/order';
export { quickSigmoid } from '../../dist/src/learner/math/quick-sigmoid';
export { Random } from '../../dist/src/learner/math/random';
export { LeafSets } from '../../dist/src/learner/model/leaf-sets';
export { memberScores } from '../../dist/src/learner/model/members';
export { packTerms, unpackTerms } from '../../dist/src/learner/model/pack-terms';
export { packTrees, unpackTrees } from '../../dist/src/learner/model/pack-trees';
export { processApart } from '../../dist/src/learner/model/process-apart';
export { ValueSums } from '../../dist/src/learner/model/value-sums';
export { leavesOf, rowMajor, walkOf } from '../../dist/src/learner/model/walk';
export { wantsSingleRows } from '../../dist/src/learner/training/leaf-size';
export { areaUnderRoc } from '../../dist/src/learner/training/metrics';
export {
  assignParts,
  blocksOf,
  embargoed,
  groupsOf,
  type HoldOut,
  roundsOf,
} from '../../dist/src/learner/training/parts';
export { keptTrees } from '../../dist/src/learner/training/randomised';
export { weightsOfErrors } from '../../dist/src/learner/training/simplex';
export { chooseWeights, stackWeights } from '../../dist/src/learner/training/stacking';
export { Grower, type GrowRules } from '../../dist/src/learner/trees/grow';
export { type GrowSize, GrowSpace } from '../../dist/src/learner/trees/grow-space';
export { addRows, removeRows } from '../../dist/src/learner/trees/histogram';
export { treeRooms } from '../../dist/src/learner/trees/kernel';
export { roundToGrid } from '../../dist/src/learner/trees/leaf-grid';
export { squaredError } from '../../dist/src/learner/trees/loss';
export { quantise } from '../../dist/src/learner/trees/quantise';
export { growRandomised } from '../../dist/src/learner/trees/randomised';
export { trySmallNode } from '../../dist/src/learner/trees/small-node';
export { SortedRows } from '../../dist/src/learner/trees/sorted-rows';
export { tryCategories, tryOrdered } from '../../dist/src/learner/trees/split-finder';
export type { SplitCandidate } from '../../dist/src/learner/trees/splits';
export { leafOf, TreeBuilder, type Trees } from '../../dist/src/learner/trees/trees';
export { chanceGain, weakCategories } from '../../dist/src/learner/trees/weak-categories';
