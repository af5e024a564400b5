/** What tests reach of src/learner beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export { fitCalibration, mixWithPriors } from '../../dist/src/learner/calibration/calibrate';
export {
  bucketLogits,
  cumulativeOf,
  modeOf,
  quantilesOf,
} from '../../dist/src/learner/calibration/distribution';
export { BlockMemory } from '../../dist/src/learner/explain/blocks/block-memory';
export { leafBlocks } from '../../dist/src/learner/explain/blocks/leaf-blocks';
export {
  bytesForCoalitions,
  bytesForRows,
  TreeBlocks,
} from '../../dist/src/learner/explain/blocks/tree-blocks';
export { explanationCache } from '../../dist/src/learner/explain/effects/explanation-cache';
export { permutationScores } from '../../dist/src/learner/explain/effects/permutation-scores';
export { processAlongPermutations } from '../../dist/src/learner/explain/gaussian-process/product-permutations';
export { quadratureOf } from '../../dist/src/learner/explain/gaussian-process/quadrature';
export { layOutCoalitions } from '../../dist/src/learner/explain/shapley/coalition-layout';
export { drawPermutations, mixtureCount } from '../../dist/src/learner/explain/shapley/permutations';
export { binOf, findBorders } from '../../dist/src/learner/features/binning';
export { commonTokens } from '../../dist/src/learner/features/common-tokens';
export { datePart, recurringParts } from '../../dist/src/learner/features/dates';
export { chooseEncoders, type ColumnSpec } from '../../dist/src/learner/features/encode';
export { finerBorders } from '../../dist/src/learner/features/finer-borders';
export { findNumber, tokensOf } from '../../dist/src/learner/features/tokens';
export {
  addGram,
  bytesOfGram,
  dotAt,
  factorise,
  gramOfSome,
  invert,
} from '../../dist/src/learner/gaussian/dense';
export { descend } from '../../dist/src/learner/gaussian/descend';
export { evidenceOf, pairsOf, startOf } from '../../dist/src/learner/gaussian/evidence';
export { inducingRows } from '../../dist/src/learner/gaussian/inducing';
export { kernelRow, makeDimensions, positions } from '../../dist/src/learner/gaussian/kernel';
export { denseLogistic } from '../../dist/src/learner/gaussian/logistic';
export { MaternRows } from '../../dist/src/learner/gaussian/matern-rows';
export { fitProcess } from '../../dist/src/learner/gaussian/process';
export { gaussianScores } from '../../dist/src/learner/gaussian/scores';
export { Slopes } from '../../dist/src/learner/gaussian/slopes';
export { openOwnMemory, openScratch, runsKernels } from '../../dist/src/learner/kernels/scratch';
export { makeDesign, makeTerms, sparse, termValue } from '../../dist/src/learner/linear/design';
export { fitLinear, tablesOf, valueAlong } from '../../dist/src/learner/linear/linear';
export { logistic } from '../../dist/src/learner/linear/logistic';
export { SparseSlopes } from '../../dist/src/learner/linear/sparse-slopes';
export { cholesky, gram, solve } from '../../dist/src/learner/math/matrix';
export { exp, log, sigmoid, softmax } from '../../dist/src/learner/math/numeric';
export { argsort, sorted } from '../../dist/src/learner/math/order';
export { quickSigmoid } from '../../dist/src/learner/math/quick-sigmoid';
export { Random } from '../../dist/src/learner/math/random';
export { memberScores } from '../../dist/src/learner/model/members';
export { processApart } from '../../dist/src/learner/model/predict/process-apart';
export { addTreeSums } from '../../dist/src/learner/model/quick-scorer/tree-sums';
export { leavesOf, rowMajor, walkOf } from '../../dist/src/learner/model/scores/walk';
export { packTerms, unpackTerms } from '../../dist/src/learner/model/storage/pack-terms';
export { packTrees, unpackTrees } from '../../dist/src/learner/model/storage/pack-trees';
export { trainFold } from '../../dist/src/learner/training/candidates/fold';
export { keptTrees } from '../../dist/src/learner/training/candidates/randomised';
export {
  assignParts,
  blocksOf,
  embargoed,
  groupsOf,
  type HoldOut,
  roundsOf,
} from '../../dist/src/learner/training/folds/parts';
export { wantsSingleRowsOfMany } from '../../dist/src/learner/training/preparation/leaf-size';
export { prepare } from '../../dist/src/learner/training/preparation/prepare';
export { areaUnderRoc } from '../../dist/src/learner/training/stacking/metrics';
export { weightsOfErrors } from '../../dist/src/learner/training/stacking/simplex';
export { chooseWeights, stackWeights } from '../../dist/src/learner/training/stacking/stacking';
export { boost, type BoostRules } from '../../dist/src/learner/trees/boosting/boost';
export { Grower, type GrowRules } from '../../dist/src/learner/trees/boosting/grow';
export { roundToGrid } from '../../dist/src/learner/trees/boosting/leaf-grid';
export { squaredError } from '../../dist/src/learner/trees/boosting/loss';
export { chanceGain, weakCategories } from '../../dist/src/learner/trees/boosting/weak-categories';
export { GrowSpace } from '../../dist/src/learner/trees/histograms/grow-space';
export { removeRows } from '../../dist/src/learner/trees/histograms/histogram';
export { quantise } from '../../dist/src/learner/trees/histograms/quantise';
export { NodeRows } from '../../dist/src/learner/trees/randomised/node-rows';
export { growRandomised } from '../../dist/src/learner/trees/randomised/randomised';
export { trySmallNode } from '../../dist/src/learner/trees/splits/small-node';
export { SortedRows } from '../../dist/src/learner/trees/splits/sorted-rows';
export { tryCategories, tryOrdered } from '../../dist/src/learner/trees/splits/split-finder';
export type { SplitCandidate } from '../../dist/src/learner/trees/splits/splits';
export { isLeft, leafOf, TreeBuilder, type Trees } from '../../dist/src/learner/trees/trees';
