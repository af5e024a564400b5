export { Anomalies } from './anomalies';
export type { Episode } from './method/alarms';
export type { Change, OffSensor, RowVerdict } from './method/detector';
export type {
  AnomalyAnswer,
  AnomalyChange,
  AnomalyNote,
  AnomalyOptions,
  AnomalyProgress,
  AnomalyReading,
  AnomalySurroundings,
  ReadingPlace,
} from './types';
