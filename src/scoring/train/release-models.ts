import { toServiceError } from '../../wire/service-error';
import type { Context } from '../context/context';
import type { Hooks } from '../types';

const DELETE_MS = 30_000;

/**
 * Has the service remove the models that were replaced long ago, with their train sets: the embedded service and an
 * on-premises endpoint, whose rows are here. What a hosted service keeps is its user's own affair. A model that a
 * prediction uses now is left for the next time.
 */
export async function releaseFormer(context: Context, { signal }: Hooks): Promise<void> {
  const { cards } = context;
  if (context.key !== 'embedded' && !context.onPrem) {
    return;
  }
  const client = await context.client();
  for (const { fitted, upload } of cards.superfluous()) {
    // It may be in use, or have come back from a file, since the list was made.
    if (cards.isHeld(fitted) || cards.byFittedId(fitted) !== undefined) {
      continue;
    }
    try {
      await client.deleteDataset?.(upload ?? fitted, { signal, timeoutMs: DELETE_MS });
    } catch (thrown) {
      const { code } = toServiceError(thrown);
      if (code !== 'not_found') {
        return;
      }
    }
    cards.forgetFormer(fitted);
  }
}
