import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import path from 'node:path';

import type { Red } from './node-red';

/** Our own folder in Node-RED's user directory. */
function ownFolder(red: Red): string {
  const userDir = red.settings.userDir ?? path.join(homedir(), '.node-red');
  return path.resolve(userDir, 'tabular-prediction');
}

/** Where the model cards are kept. */
export function modelsPath(red: Red): string {
  return path.join(ownFolder(red), 'models.json');
}

/** Where the embedded service keeps uploads and fitted models. */
export function serviceFolder(red: Red): string {
  return path.join(ownFolder(red), 'service');
}

/** Where the train rows for an on-premises endpoint are kept, which keeps none itself. */
export function trainRowsFolder(red: Red, service: string): string {
  const name = createHash('sha256').update(service).digest('hex').slice(0, 16);
  return path.join(ownFolder(red), 'train-rows', name);
}

/** Where a series node keeps its readings and rows. */
export function seriesFolder(red: Red, keepAs: string): string {
  return path.join(ownFolder(red), 'series', keepAs);
}

/** Where an anomaly node keeps what it knows. */
export function anomalyFolder(red: Red, keepAs: string): string {
  return path.join(ownFolder(red), 'anomaly', keepAs);
}

/** Where a watch node keeps its state. An id of a flow written by hand may hold what is no name of a file. */
export function watchFile(red: Red, nodeId: string): string {
  const name = /^[\w-]{1,100}$/.test(nodeId) ? nodeId : createHash('sha256').update(nodeId).digest('hex');
  return path.join(ownFolder(red), 'watch', `${name}.json`);
}

/** Resolves a path as the core file nodes do: against `fileWorkingDirectory` if that is set. */
export function filePath(red: Red, name: string): string {
  const base = (red.settings as { fileWorkingDirectory?: string }).fileWorkingDirectory;
  return base === undefined || base === '' ? path.resolve(name) : path.resolve(base, name);
}
