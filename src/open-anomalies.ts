import { Anomalies, type AnomalyChange, type AnomalyNote, type AnomalyOptions } from './anomaly';

/** As the anomaly node; its fields have the same names. */
export interface AnomalyProgramOptions extends AnomalyOptions {
  /** Folder that keeps what is known across restarts, of these machines alone. Default: memory only. */
  folder?: string;
  /** Told what is no error, such as a disk that is full. */
  onNote?: (note: AnomalyNote) => void;
  /** Told what happens between readings: something was learned, or a question about the history has come up. */
  onChange?: (change: AnomalyChange) => void;
}

/**
 * Learns what is usual for each machine from its readings, and says what is not: `take` a reading, `teach` past ones.
 * @throws ServiceError `config.invalid`, `storage.failed`
 */
export function anomalies(options: AnomalyProgramOptions = {}): Promise<Anomalies> {
  const { folder, onNote, onChange, ...given } = options;
  return Anomalies.open(given, { folder, notify: onNote, onChange });
}
