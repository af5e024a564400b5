export { Anomalies } from './anomalies';
export type { Episode } from './method/alarms';
export type { Detector } from './method/detector';
export type { OffSensor, RecentSensor } from './method/verdict';
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
