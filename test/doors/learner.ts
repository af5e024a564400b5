/** What tests reach of src/learner beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export { fitCalibration, mixWithPriors } from '../../dist/src/learner/calibration/calibrate';
export {
  bucketLogits,
  findMode,
  writeCumulative,
  writeQuantiles,
} from '../../dist/src/learner/calibration/distribution';
export { BlockMemory } from '../../dist/src/learner/explain/block-memory';
export { explanationCache } from '../../dist/src/learner/explain/explanation-cache';
export { leafBlocks } from '../../dist/src/learner/explain/leaf-blocks';
export { permutationScores } from '../../dist/src/learner/explain/permutation-effects';
export { processAlongPermutations } from '../../dist/src/learner/explain/process-effects';
export { drawPermutations, layOutCoalitions, mixtureCount } from '../../dist/src/learner/explain/shapley';
export { bytesForCoalitions, bytesForRows, TreeBlocks } from '../../dist/src/learner/explain/tree-blocks';
export { findBin, findBorders } from '../../dist/src/learner/features/binning';
export { commonTokens } from '../../dist/src/learner/features/common-tokens';
export { datePart, recurringParts } from '../../dist/src/learner/features/dates';
export {
  chooseEncoders,
  type ColumnSpec,
  columnSpecs,
  encodeColumn,
  type Encoder,
} from '../../dist/src/learner/features/encode';
export { finerBorders } from '../../dist/src/learner/features/finer-borders';
export { findNumber, findTokens } from '../../dist/src/learner/features/tokens';
export { descend } from '../../dist/src/learner/gaussian/descend';
export { chooseStart, listPairs, makeEvidence } from '../../dist/src/learner/gaussian/evidence';
export { inducingRows } from '../../dist/src/learner/gaussian/inducing';
export { makeDimensions, positions } from '../../dist/src/learner/gaussian/kernel';
export { denseLogistic } from '../../dist/src/learner/gaussian/logistic';
export { MaternRows } from '../../dist/src/learner/gaussian/matern-rows';
export { fitProcess } from '../../dist/src/learner/gaussian/process';
export { gaussianScores } from '../../dist/src/learner/gaussian/scores';
export { Slopes } from '../../dist/src/learner/gaussian/slopes';
export { openOwnMemory, openScratch, runsKernels } from '../../dist/src/learner/kernels/scratch';
export { addGram, factorise, gramOfSome, invert } from '../../dist/src/learner/linear/dense';
export { makeDesign, makeTerms, sparse, termValue } from '../../dist/src/learner/linear/design';
export { expandTerms, fitLinear, valueAlong } from '../../dist/src/learner/linear/linear';
export { logistic, PenalisedGram, SparseSlopes } from '../../dist/src/learner/linear/logistic';
export { cholesky, dotAt, gram, solve } from '../../dist/src/learner/math/matrix';
export { exp, log, sigmoid, softmax } from '../../dist/src/learner/math/numeric';
export { argsort, sorted } from '../../dist/src/learner/math/order';
export { findQuadrature } from '../../dist/src/learner/math/quadrature';
export { Random } from '../../dist/src/learner/math/random';
export { processApart } from '../../dist/src/learner/model/ensemble';
export { memberScores } from '../../dist/src/learner/model/model';
export { addTreeSums } from '../../dist/src/learner/model/tree-scores';
export { packTerms, packTrees, unpackTerms, unpackTrees } from '../../dist/src/learner/storage/packing';
export { keptTrees, trainFold } from '../../dist/src/learner/training/fold';
export {
  assignParts,
  cutBlocks,
  embargoed,
  findGroups,
  findRounds,
  type HoldOut,
} from '../../dist/src/learner/training/parts';
export { prepare } from '../../dist/src/learner/training/prepare';
export {
  areaUnderRoc,
  chooseWeights,
  stackWeights,
  weightsOfErrors,
} from '../../dist/src/learner/training/stacking';
export { wantsSingleRowsOfMany } from '../../dist/src/learner/training/trials';
export { toldProbabilities } from '../../dist/src/learner/training/weigh';
export { boost, type BoostRules } from '../../dist/src/learner/trees/boost';
export { chanceGain, Grower, type GrowRules, weakCategories } from '../../dist/src/learner/trees/grow';
export { GrowSpace, quantise } from '../../dist/src/learner/trees/grow-space';
export { squaredError } from '../../dist/src/learner/trees/loss';
export { NodeRows } from '../../dist/src/learner/trees/node-rows';
export { growRandomised } from '../../dist/src/learner/trees/randomised';
export { type SplitCandidate, SplitSearch } from '../../dist/src/learner/trees/splits';
export { findLeaf, isLeft, roundToGrid, TreeBuilder, type Trees } from '../../dist/src/learner/trees/trees';
export { LeafFinder } from '../../dist/src/learner/trees/walk';
