import { cloneJson } from '../../util/json';
import type { Context } from '../context/context';
import { unknownModel } from '../models/model-request';
import type { Hooks } from '../types';
import { type ModelFile, modelFile } from './model-file';

const EXPORT_MS = 120_000;

/**
 * A model as one file: the card, the reference of its train set and, from the embedded service, the model itself.
 *
 * @param name of the version in charge, or `name@version`
 * @throws ServiceError `model.unknown`; `config.invalid` where the model is train rows on this computer
 */
export async function exportModel(context: Context, name: string, { signal }: Hooks): Promise<ModelFile> {
  const { cards, service } = context;
  const card = cards.get(name);
  if (card === undefined) {
    throw unknownModel(name, cards);
  }
  const id = card.fitted_train_set_id;
  const letGo = cards.hold(id);
  try {
    const reference = await cards.reference(id);
    const model = await service.exportModel(id, { signal, timeoutMs: EXPORT_MS });
    return modelFile({ card: cloneJson(card), reference, model });
  } finally {
    letGo();
  }
}
