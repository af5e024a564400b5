/** What tests reach of src/anomaly: a file that moves there is renamed here, and nowhere else. */
export { Anomalies, type AnomalyAnswer, type AnomalyChange, type AnomalyNote } from '../../dist/src/anomaly';
export { AlarmPromise } from '../../dist/src/anomaly/method/alarms';
export { Detector } from '../../dist/src/anomaly/method/detector';
export { learn } from '../../dist/src/anomaly/method/fit';
export type { HistoryRow } from '../../dist/src/anomaly/method/history';
export { arrangeTrainRows, contextWidth, writeContext } from '../../dist/src/anomaly/method/layout';
export { fitExpectations, fitFromOthers, sumMoments } from '../../dist/src/anomaly/method/ridge';
export { computeRarity, fitTail, HOLD_ROWS, valueOfRarity } from '../../dist/src/anomaly/method/tail';
export { freshMemory, scoreRow } from '../../dist/src/anomaly/method/usual';
export type { RowVerdict } from '../../dist/src/anomaly/method/verdict';
export { Gather, JoinedRows, TaughtRows } from '../../dist/src/anomaly/rows';
export { AnomalyStore } from '../../dist/src/anomaly/store';
