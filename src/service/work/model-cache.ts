import type { Model } from '../../learner/model/model';
import { loadModel } from '../../learner/storage/stored-model';
import { LearnerError } from '../../learner/types';
import { crc32c, crc32cToBase64 } from '../../table/storage/crc32c';
import { readOwnFile } from '../../util/files';
import { damagedModel, invalid } from '../refusal';
import { readFailure } from '../store/entries';
import type { CheckJob, ModelRef } from './jobs';

/** A model in memory takes about this many times its arrays, with what holds them. */
const EXPANSION = 2;

/** Models in memory, the least recently used dropped beyond a number of bytes; the newest always stays. */
export class ModelCache {
  private readonly models = new Map<string, { model: Model; bytes: number }>();
  private bytes = 0;
  /** Those being read. */
  private readonly loading = new Set<string>();

  constructor(private readonly maxBytes: number) {}

  /** @throws Refusal with code MODEL_DAMAGED when the file is gone or not what was written, 503 when it cannot be read now */
  async get(ref: ModelRef): Promise<Model> {
    const known = this.models.get(ref.id);
    if (known !== undefined) {
      this.models.delete(ref.id);
      this.models.set(ref.id, known);
      return known.model;
    }
    this.loading.add(ref.id);
    let isWanted = true;
    const loaded = await load(ref).finally(() => (isWanted = this.loading.delete(ref.id)));
    if (!isWanted) {
      return loaded.model;
    }
    this.models.set(ref.id, loaded);
    this.bytes += loaded.bytes;
    for (const [id, { bytes }] of this.models) {
      if (this.bytes <= this.maxBytes || id === ref.id) {
        break;
      }
      this.models.delete(id);
      this.bytes -= bytes;
    }
    return loaded.model;
  }

  /** Drops these, and does not keep one that is being read. */
  forget(ids: string[]): void {
    for (const id of ids) {
      this.loading.delete(id);
      this.bytes -= this.models.get(id)?.bytes ?? 0;
      this.models.delete(id);
    }
  }
}

async function load(ref: ModelRef): Promise<{ model: Model; bytes: number }> {
  const bytes = await readModel(ref.file);
  if (crc32cToBase64(crc32c(bytes)) !== ref.crc) {
    throw damagedModel('its checksum is wrong');
  }
  try {
    const model = loadModel(bytes);
    return { model, bytes: countBytes(model) * EXPANSION };
  } catch (error) {
    if (error instanceof LearnerError) {
      throw damagedModel(error.message);
    }
    throw error;
  }
}

/** Bytes of the arrays in a value: the file, whose trees are packed, is several times smaller. */
function countBytes(value: unknown): number {
  if (ArrayBuffer.isView(value)) {
    return value.byteLength;
  }
  return typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, one) => sum + countBytes(one), 0)
    : 0;
}

async function readModel(file: string): Promise<Buffer> {
  try {
    return await readOwnFile(file);
  } catch (error) {
    throw await readFailure('fitted train set', { file }, error, damagedModel);
  }
}

/**
 * Reads a model that came from elsewhere as a prediction would, and compares it with its entry.
 * @throws Refusal 422 for one that cannot be used
 */
export async function checkModel({ file, entry }: CheckJob): Promise<void> {
  const bytes = await readOwnFile(file);
  try {
    assertEntry(loadModel(bytes), entry);
  } catch (error) {
    throw error instanceof LearnerError ? invalid(error.message) : error;
  }
}

/** @throws Refusal 422 where the model does not answer what its entry says, or not from these columns */
function assertEntry(model: Model, { task, classes = [], features }: CheckJob['entry']): void {
  const kinds = new Map(features.map(({ name, kind }) => [name, kind]));
  if (
    model.task !== task ||
    JSON.stringify(model.classes) !== JSON.stringify(classes) ||
    kinds.size !== features.length ||
    model.features.some(({ name, kind }) => kinds.get(name) !== kind)
  ) {
    throw invalid('The model is damaged: its entry is that of another one.');
  }
}
