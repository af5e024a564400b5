import { toServiceError } from '../../wire/service-error';
import type { Context } from '../context/context';
import type { Hooks } from '../types';

const DELETE_MS = 30_000;

/**
 * Removes models that were replaced long ago, with their train sets, from the embedded service or, for an on-premises
 * endpoint, from this computer. On a hosted service nothing is removed. A model that a prediction is using is left for
 * the next time.
 */
export async function releaseFormer(context: Context, { signal }: Hooks): Promise<void> {
  const { cards, service } = context;
  const tried = new Set<string>();
  for (;;) {
    // Looked up again each time: since the last removal a model may be in use, or have been imported.
    const next = cards.superfluous().find(({ fitted }) => !tried.has(fitted));
    if (next === undefined) {
      return;
    }
    const { fitted, upload } = next;
    tried.add(fitted);
    try {
      if (!(await service.remove(upload ?? fitted, { signal, timeoutMs: DELETE_MS }))) {
        return;
      }
    } catch (thrown) {
      const { code } = toServiceError(thrown);
      if (code !== 'not_found') {
        return;
      }
    }
    cards.forgetFormer(fitted, upload);
  }
}
