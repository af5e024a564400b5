import { EditorRoutes } from '../config/http';
import type { Red } from '../node-red';
import { watchNodes } from './load';

/**
 * `GET /tabular-prediction/watch/<model>`: what the watch nodes know of a model, null where none watches it. To be
 * registered before the routes of the dialogs, which begin with the id of a node.
 */
export function watchRoute(red: Red): void {
  new EditorRoutes(red).tell(
    '/tabular-prediction/watch/:model',
    ({ params }) => watchNodes().shownWatch(params.model ?? '') ?? null,
  );
}
