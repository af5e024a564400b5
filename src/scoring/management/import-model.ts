import { cloneJson } from '../../util/json';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { Context } from '../context/context';
import { readReference } from '../reference/read-reference';
import { type Service } from '../services/service';
import { serviceInWords } from '../services/service-key';
import type { Hooks, ModelCard } from '../types';
import { cardIn } from './imported-card';
import { MAX_MODEL_FILE_BYTES, readModelFile, unreadableModel } from './model-file';

const IMPORT_MS = 120_000;

/**
 * Takes a model from the bytes of a file that `exportModel` made, here or elsewhere: the first version of its name. Nothing is
 * kept of a file that cannot be used; what the service has of it by then is noted for removal, as a former model. No
 * model is removed meanwhile: see `ModelCards.move`.
 *
 * @param name to keep it under; left out: the name that it had
 * @throws ServiceError `file.unreadable`, `limit.exceeded`; `validation.failed` for a name that is taken;
 *   `config.invalid` for a model of another service, or of an endpoint that keeps none
 */
export async function importModel(
  context: Context,
  file: Buffer,
  name: string | undefined,
  { signal }: Hooks,
): Promise<ModelCard> {
  if (file.length > MAX_MODEL_FILE_BYTES) {
    throw new ServiceError(
      'limit.exceeded',
      `The file has ${file.length} bytes; a model may have ${MAX_MODEL_FILE_BYTES}.`,
    );
  }
  const { cards, service } = context;
  const { card: given, reference: givenReference, model } = await readModelFile(file);
  const card = cardIn(given);
  card.name = name ?? card.name;
  cards.assertFree(card.name);
  if (card.service !== service.key) {
    throw new ServiceError(
      'config.invalid',
      `This is a model of ${serviceInWords(card.service)}: import it into a configuration of that service.`,
    );
  }
  const id = await takenId(service, card.fitted_train_set_id, model, signal);
  // Where there is no card in the end, or this process is killed before, the model goes again.
  await cards.discard({ fitted: id, upload: card.train_set_upload_id });
  const reference = readReference(givenReference);
  if (reference !== undefined) {
    await cards.putReference(id, reference);
  }
  // Another model may have taken the name by now.
  cards.assertFree(card.name);
  const kept = cards.put({ ...card, fitted_train_set_id: id }, undefined, { why: 'imported' });
  await cards.flush();
  return cloneJson(kept);
}

/** The id of the model here; the service says what is wrong with one that it cannot use. */
async function takenId(
  service: Service,
  fittedId: string,
  model: Buffer | undefined,
  signal: AbortSignal | undefined,
): Promise<string> {
  let id: string | undefined;
  try {
    id = await service.takeModel(fittedId, model, { signal, timeoutMs: IMPORT_MS });
  } catch (thrown) {
    const error = toServiceError(thrown);
    const [, said] = /\(422\): (.*?)\.?$/s.exec(error.message) ?? [];
    throw error.code === 'validation.failed' && said !== undefined ? unreadableModel(said) : error;
  }
  if (id === undefined) {
    throw unreadableModel('it holds the card of the model alone');
  }
  return id;
}
