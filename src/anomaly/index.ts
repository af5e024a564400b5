export { Anomalies } from './anomalies';
export type { Episode } from './method/alarms';
export type { OffSensor } from './method/verdict';
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
