import { rm } from 'node:fs/promises';

import {
  isNewer,
  isOwnId,
  makeFolder,
  NewerFile,
  ownPath,
  readJsonFile,
  syncFolder,
  writeFileAtomic,
} from '../../util/files';
import { isObject } from '../../util/values';
import type { FitRequest } from '../../wire/types';
import type { Log } from '../options';
import { namesIn } from './entry-store';

/** Beyond this number the oldest failures are forgotten. */
const MAX_FAILED = 200;
const ENDING = '.json';
const VERSION = 1;

/** `fits/<id>.json`: a fit that was promised before it had ended. It goes once the model is safe. */
export interface FitRecord {
  version: typeof VERSION;
  /** The id that the model will have. */
  id: string;
  request: FitRequest;
  /** Unix milliseconds. */
  submittedAt: number;
  /** How often it was begun, this time included; a planned end of the service does not count. */
  starts: number;
  failure?: { message: string; errorCode: string };
}

/** The records of submitted fits, in memory and on disk. */
export class FitRecords {
  private readonly records = new Map<string, FitRecord>();

  constructor(
    private readonly folder: string,
    private readonly log: Log,
  ) {}

  /**
   * Reads what an earlier run of the service has left. A damaged file is reported and removed; a link, and a file of a
   * newer version of this package, are reported and left alone.
   *
   * @throws as the file system does
   */
  async load(): Promise<void> {
    for (const name of await namesIn(this.folder)) {
      const id = name.slice(0, -ENDING.length);
      if (name.endsWith(ENDING) && isOwnId(id)) {
        await this.loadOne(id);
      }
    }
  }

  private async loadOne(id: string): Promise<void> {
    let record: unknown;
    try {
      record = await readJsonFile(this.nameFile(id));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ELOOP') {
        this.log('warn', `The record of the submitted fit ${id} is a link: it is left alone.`);
        return;
      }
      if (!(error instanceof SyntaxError)) {
        throw error;
      }
    }
    if (isFitRecord(record, id)) {
      this.records.set(id, record);
    } else if (isNewer(record, VERSION)) {
      const { message } = new NewerFile(record.version, VERSION);
      this.log('warn', `The record of the submitted fit ${id} is left alone: ${message}.`);
    } else {
      this.log('warn', `The record of the submitted fit ${id} is damaged: submit it again.`);
      await rm(this.nameFile(id), { force: true }).catch(() => undefined);
    }
  }

  get(id: string): FitRecord | undefined {
    return this.records.get(id);
  }

  /** Those that have not failed, the oldest first. */
  pending(): FitRecord[] {
    return this.oldestFirst().filter(({ failure }) => failure === undefined);
  }

  /** Of an upload, whatever became of them. */
  of(trainSetUploadId: string): FitRecord[] {
    return [...this.records.values()].filter(
      ({ request }) => request.train_set_upload_id.toLowerCase() === trainSetUploadId,
    );
  }

  all(): FitRecord[] {
    return [...this.records.values()];
  }

  /**
   * Writes a record so that it survives a power cut. What becomes of a fit that was promised holds until the next start even
   * where it cannot be written.
   *
   * @throws as the file system does
   */
  async put(record: FitRecord): Promise<void> {
    if (this.records.has(record.id)) {
      this.records.set(record.id, record);
    }
    // Somebody may have deleted it while the service runs.
    await makeFolder(this.folder, 1);
    await writeFileAtomic(this.nameFile(record.id), JSON.stringify(record), true);
    this.records.set(record.id, record);
    const failed = this.oldestFirst().filter(({ failure }) => failure !== undefined);
    for (const { id } of failed.slice(0, Math.max(0, failed.length - MAX_FAILED))) {
      await this.remove(id);
    }
  }

  async remove(id: string): Promise<void> {
    if (this.records.delete(id)) {
      await rm(this.nameFile(id), { force: true });
      await makeFolder(this.folder, 1);
      await syncFolder(this.folder);
    }
  }

  private oldestFirst(): FitRecord[] {
    return [...this.records.values()].sort((a, b) => a.submittedAt - b.submittedAt);
  }

  private nameFile(id: string): string {
    return ownPath(this.folder, id, ENDING);
  }
}

function isFitRecord(value: unknown, id: string): value is FitRecord {
  return (
    isObject(value) &&
    value.version === VERSION &&
    value.id === id &&
    isObject(value.request) &&
    typeof value.request.train_set_upload_id === 'string' &&
    (value.request.task === 'classification' || value.request.task === 'regression') &&
    typeof value.submittedAt === 'number' &&
    typeof value.starts === 'number' &&
    (value.failure === undefined || isFailure(value.failure))
  );
}

function isFailure(value: unknown): boolean {
  return isObject(value) && typeof value.message === 'string' && typeof value.errorCode === 'string';
}
