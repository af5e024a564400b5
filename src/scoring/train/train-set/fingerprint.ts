import { createHash } from 'node:crypto';

import type { Task, TrainRequest, UploadCard } from '../../types';
import type { Lineage } from './row-plan';

/** Equal for the same train set fitted with the same options, whichever upload id it has. */
export function fingerprintOf(
  upload: Omit<UploadCard, 'id' | 'reused'>,
  task: Task,
  request: TrainRequest & { lineage: Lineage },
  learner: string | undefined,
): string {
  const { options, systems, thinking, holdout = 0, lineage, relativeTo, folds, order: wish } = request;
  const { order, group, embargo } = lineage;
  const isPlain = order !== 'time' && group === undefined && relativeTo === undefined;
  const parts = [
    upload.hash,
    upload.bytes,
    upload.rows,
    upload.target,
    upload.columns,
    task,
    sorted(options ?? {}),
    [...(systems ?? [])].sort(),
    sorted(thinking ?? {}),
    // Left out where there is none, so that fingerprints on disk stay valid.
    ...(holdout > 0 ? [holdout] : []),
    ...(isPlain ? [] : [{ order, group, embargo, relativeTo, folds }]),
    ...(learner !== undefined ? [learner] : []),
    // The embedded service looks for an order of its own, unless it is told that there is none.
    ...(learner !== undefined && isPlain && wish === 'none' ? [wish] : []),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

function sorted(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
