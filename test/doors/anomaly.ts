/** What tests reach of src/anomaly: a file that moves there is renamed here, and nowhere else. */
export { Anomalies, type AnomalyAnswer, type AnomalyChange, type AnomalyNote } from '../../dist/src/anomaly';
export { Gather } from '../../dist/src/anomaly/gather';
export { JoinedRows } from '../../dist/src/anomaly/joined-rows';
export { Detector } from '../../dist/src/anomaly/method/detector';
export { contextOf, writeContext } from '../../dist/src/anomaly/method/layout';
export { learn } from '../../dist/src/anomaly/method/learn';
export { fitExpectations, fitFromOthers, momentsOf } from '../../dist/src/anomaly/method/ridge';
export { fitTail, rarityOf, valueOfRarity } from '../../dist/src/anomaly/method/tail';
export { HOLD_ROWS } from '../../dist/src/anomaly/method/tail';
export { freshMemory, scoreRow } from '../../dist/src/anomaly/method/usual';
export type { RowVerdict } from '../../dist/src/anomaly/method/verdict';
export { AnomalyStore } from '../../dist/src/anomaly/store';
