import { cloneJson, isObject } from '../../util/json';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { Context } from '../context/context';
import { checkedCard } from '../models/model-request';
import { isThreshold } from '../models/threshold';
import { readReference } from '../reference/read-reference';
import type { Hooks, ModelCard } from '../types';
import { MAX_MODEL_FILE_BYTES, readModelFile, unreadableModel } from './model-file';

const IMPORT_MS = 120_000;

/**
 * Takes a model from the bytes of a file that `exportModel` made, here or elsewhere: the first version of its name. Nothing is
 * kept of a file that cannot be used.
 *
 * @param name to keep it under; left out: the name that it had
 * @throws ServiceError `file.unreadable`, `limit.exceeded`; `validation.failed` for a name that is taken;
 *   `config.invalid` for a model of another service
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
  const { cards } = context;
  const { card: given, reference: givenReference, model } = await readModelFile(file);
  const card = cardIn(given);
  card.name = name ?? card.name;
  cards.assertFree(card.name);
  assertSameService(context, card);
  let id = card.fitted_train_set_id;
  if (context.key === 'embedded') {
    if (model === undefined) {
      throw unreadableModel('it holds the card of the model alone');
    }
    id = await sendModel(context, model, signal);
  }
  const letGo = cards.hold(id);
  try {
    // Where this process is killed before there is a card, the model goes again.
    await cards.discard({ fitted: id, upload: card.train_set_upload_id });
    const reference = readReference(givenReference);
    if (reference !== undefined) {
      await cards.putReference(id, reference);
    }
    // Another one may have taken the name meanwhile.
    cards.assertFree(card.name);
    const kept = cards.put({ ...card, fitted_train_set_id: id }, undefined, { why: 'imported' });
    await cards.flush();
    return cloneJson(kept);
  } finally {
    letGo();
  }
}

/** Hands the model to the embedded service, which says what is wrong with one that it cannot use. */
async function sendModel(context: Context, model: Buffer, signal: AbortSignal | undefined): Promise<string> {
  const client = await context.client();
  try {
    return await client.importModel!(model, { signal, timeoutMs: IMPORT_MS });
  } catch (thrown) {
    const error = toServiceError(thrown);
    const [, said] = /\(422\): (.*?)\.?$/s.exec(error.message) ?? [];
    throw error.code === 'validation.failed' && said !== undefined ? unreadableModel(said) : error;
  }
}

/** Where a model is cannot be changed by a file: only the embedded service takes it with it. */
function assertSameService({ key }: Context, { service }: ModelCard): void {
  if (service !== key) {
    const place = service === 'embedded' ? 'the embedded service' : service;
    throw new ServiceError(
      'config.invalid',
      `This is a model of ${place}: import it into a configuration of that service.`,
    );
  }
}

/** The card of a file. What is not as it should be is left out where a model can do without. */
function cardIn(value: unknown): ModelCard {
  const given = isObject(value) ? (value as unknown as ModelCard) : null;
  let card: ModelCard;
  try {
    card = checkedCard(given);
  } catch {
    throw unreadableModel('its card is damaged');
  }
  const texts = ['name', 'target', 'service', 'fitted_at', 'train_set_upload_id'] as const;
  if (texts.some((name) => typeof card[name] !== 'string') || card.name === '') {
    throw unreadableModel('its card is damaged');
  }
  const isSound = (name: string, part: unknown): boolean =>
    name === 'threshold'
      ? isThreshold(part)
      : LISTS.has(name)
        ? Array.isArray(part)
        : !OBJECTS.has(name) || isObject(part);
  return Object.fromEntries(
    Object.entries(card).filter(([name, part]) => isSound(name, part)),
  ) as unknown as ModelCard;
}

const LISTS = new Set(['importance', 'limited', 'doubts']);
const OBJECTS = new Set(['scores', 'thresholds', 'cleaned', 'costs']);
