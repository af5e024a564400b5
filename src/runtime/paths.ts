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

/** A path of a flow, as the core file nodes resolve it: against `fileWorkingDirectory` where that is set. */
export function filePath(red: Red, name: string): string {
  const base = (red.settings as { fileWorkingDirectory?: string }).fileWorkingDirectory;
  return base === undefined || base === '' ? path.resolve(name) : path.resolve(base, name);
}
