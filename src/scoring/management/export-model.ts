import { cloneJson } from '../../util/json';
import { ServiceError } from '../../wire/service-error';
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
export async function exportModel(context: Context, name: string, hooks: Hooks): Promise<ModelFile> {
  const { cards } = context;
  const card = cards.get(name);
  if (card === undefined) {
    throw unknownModel(name, cards);
  }
  if (context.onPrem) {
    throw new ServiceError(
      'config.invalid',
      'The model of an endpoint that keeps none is its train rows: it cannot be exported. Fit it in the other place.',
    );
  }
  const id = card.fitted_train_set_id;
  const letGo = cards.hold(id);
  try {
    const reference = await cards.reference(id);
    const model = context.key === 'embedded' ? await bytesOf(context, id, hooks) : undefined;
    return modelFile({ card: cloneJson(card), reference, model });
  } finally {
    letGo();
  }
}

async function bytesOf(context: Context, id: string, { signal }: Hooks): Promise<Uint8Array | undefined> {
  const client = await context.client();
  return client.exportModel?.(id, { signal, timeoutMs: EXPORT_MS });
}
