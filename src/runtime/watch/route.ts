import type { Red } from '../node-red';
import { watchNodes } from './load';

/**
 * `GET /tabular-prediction/watch/<model>`: what the watch nodes know of a model, null where none watches it. To be
 * registered before the routes of the dialogs, which begin with the id of a node.
 */
export function watchRoute(red: Red): void {
  const read = red.auth.needsPermission('tabular-prediction.read');
  red.httpAdmin.get(
    '/tabular-prediction/watch/:model',
    read,
    (request: { params: { model: string } }, response: { json(body: unknown): void }) => {
      response.json(watchNodes().shownWatch(request.params.model) ?? null);
    },
  );
}
