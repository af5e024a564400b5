/** What tests reach of src/metrics: a file that moves there is renamed here, and nowhere else. */
export * from '../../dist/src/metrics/answer-costs';
export * from '../../dist/src/metrics/curves';
export { heldOutLosses } from '../../dist/src/metrics/held-out-losses';
export { inBlocks, logLossRange, rmseRange } from '../../dist/src/metrics/loss-range';
export { areNeighboursAlike } from '../../dist/src/metrics/neighbours';
export { ColumnSplit, PrivateValues, RowKinds, RowsButOne } from '../../dist/src/metrics/repeated-rows';
export { rocAuc } from '../../dist/src/metrics/roc-auc';
export { stabilityIndex } from '../../dist/src/metrics/stability';
export { StillRows } from '../../dist/src/metrics/still-rows';
export * from '../../dist/src/metrics/threshold-curve';
export * from '../../dist/src/metrics/thresholds';
