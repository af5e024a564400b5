import { createRequire } from 'node:module';

import { type EditorRequest, EditorRoutes } from '../config/http';
import type { Red } from '../node-red';

/** Loaded with the first request: Node-RED loads every node of the package at startup, and that must stay fast. */
const load = createRequire(__filename);
const known = () => load('./services') as typeof import('./services');
const shown = () => load('./shown-models') as typeof import('./shown-models');
const trying = () => load('./try-row') as typeof import('./try-row');

/** The routes of the sidebar *Models*. Values of a table leave behind a permission only. */
export function sidebarRoutes(red: Red): void {
  const routes = new EditorRoutes(red);
  const idOf = ({ params }: EditorRequest): string => params.id ?? '';

  routes.tell('/tabular-prediction/sidebar/:id/model', (request) =>
    shown().showModel(red, idOf(request), String(request.query?.name)),
  );
  routes.act(
    '/tabular-prediction/sidebar/:id/try',
    (request, body) => trying().tryRow(red, idOf(request), body),
    {
      // A prediction changes nothing, but other services than the embedded one may charge for it.
      needs: (request) => {
        const service = known()
          .services(red)
          .find(({ id }) => id === idOf(request));
        return [service?.kind === 'embedded' ? 'tabular-prediction.read' : 'tabular-prediction.write'];
      },
    },
  );
}
