import { cloneJson } from '../../util/json';
import type { Context } from '../context/context';
import type { Hooks, ModelCard } from '../types';

const STATUS_MS = 10_000;

/**
 * Puts an earlier version of a model in charge, in one step between two batches: without a fit, and without losing a
 * prediction. The embedded service is asked first whether it still has the model.
 *
 * @param to `true` for the version that was in charge before, or the number of any that is kept
 * @returns the card that is in charge now
 * @throws ServiceError `model.unknown`, `rollback.impossible`, `validation.failed`
 */
export async function rollBack(
  context: Context,
  name: string,
  to: true | number,
  { signal }: Hooks,
): Promise<ModelCard> {
  const { cards, service } = context;
  for (let id = cards.rollBackTo(name, to); ; id = cards.rollBackTo(name, to)) {
    if (await service.hasModel(id, { signal, timeoutMs: STATUS_MS })) {
      break;
    }
    cards.markDead(id);
  }
  const card = cloneJson(cards.rollBack(name, to));
  await cards.flush();
  return card;
}
