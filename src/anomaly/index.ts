export { Anomalies } from './anomalies';
export type { Episode } from './method/alarms';
export type { Detector } from './method/detector';
export type { RecentSensor } from './method/recent-rows';
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
