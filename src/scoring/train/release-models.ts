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
  const tried = new Set<string>();
  for (;;) {
    // Asked for again each time: one may be in use, or have come back from a file, since the last was removed.
    const next = cards.superfluous().find(({ fitted }) => !tried.has(fitted));
    if (next === undefined) {
      return;
    }
    const { fitted, upload } = next;
    tried.add(fitted);
    try {
      await client.deleteDataset?.(upload ?? fitted, { signal, timeoutMs: DELETE_MS });
    } catch (thrown) {
      const { code } = toServiceError(thrown);
      if (code !== 'not_found') {
        return;
      }
    }
    cards.forgetFormer(fitted, upload);
  }
}
