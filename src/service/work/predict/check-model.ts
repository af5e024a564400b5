import type { Model } from '../../../learner/model/model';
import { loadModel } from '../../../learner/model/storage/serialize';
import { LearnerError } from '../../../learner/types';
import { readOwnFile } from '../../../util/files';
import { invalid } from '../../refusal';
import type { CheckJob } from '../jobs';

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
