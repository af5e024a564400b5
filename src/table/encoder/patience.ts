import { stat } from 'node:fs/promises';

import { ServiceError } from '../../wire/service-error';
import { batchBytes } from '../columns/column-batch';
import type { EncoderTask } from './protocol';

/** How often silence is measured, in seconds: a process that was held does not count as a thread that is silent. */
export const LOOK_SECONDS = 5;

/**
 * How long the encoder thread may say nothing to a piece of work that waits for it, in seconds. It tells of every
 * batch and of every hundredth of a file, and a Raspberry Pi reads and writes tables at more than 2 MB/s. So the rate is
 * a tenth of what the slowest computer does in one go, and the fixed part leaves room for a thread that starts from an
 * SD card, and for a disk that wakes up.
 */
const BASE_SECONDS = 120;
const BYTES_PER_SECOND = 200_000;

/** @param bytes of all that is under way in the thread, which shares its time */
export function secondsOfSilence(bytes: number): number {
  return BASE_SECONDS + bytes / BYTES_PER_SECOND;
}

/** Bytes that a piece of work is known to have; `onKnown` is told those of a file, once its size is known. */
export function bytesOfTask(task: EncoderTask, onKnown: (bytes: number) => void): number {
  if (task.name === 'encode') {
    return (task.batches ?? []).reduce((sum, batch) => sum + batchBytes(batch), 0);
  }
  const { origin } = task;
  if (origin.kind === 'bytes') {
    return origin.bytes.length;
  }
  if (origin.version === undefined) {
    // A file that is not there is the thread's to tell.
    stat(origin.path).then(
      ({ size }) => onKnown(size),
      () => undefined,
    );
  }
  return origin.version?.size ?? 0;
}

/** The error of a piece of work that the thread has not got on with. */
export function silenceError(task: EncoderTask, seconds: number): ServiceError {
  const silence = `nothing was heard of it for ${Math.round(seconds / 60)} minutes, longer than its size can take, so its thread was ended`;
  if (task.name === 'encode') {
    return new ServiceError(
      'storage.failed',
      `Writing the table did not get on: ${silence}. Check the disk with the temporary folder.`,
    );
  }
  return task.origin.kind === 'path'
    ? new ServiceError(
        'file.unreadable',
        `Reading the file "${task.origin.path}" did not get on: ${silence}. It may be damaged, or its disk does not answer.`,
      )
    : new ServiceError(
        'table.invalid',
        `Reading the table did not get on: ${silence}. It may be damaged; write it anew.`,
      );
}
