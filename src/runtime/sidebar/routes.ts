import { createRequire } from 'node:module';

import { respond } from '../config/http';
import type { Red } from '../node-red';

/** Loaded with the first request: Node-RED loads every node of the package at startup, and that must stay fast. */
const load = createRequire(__filename);
const known = () => load('./services') as typeof import('./services');
const shown = () => load('./shown-models') as typeof import('./shown-models');
const trying = () => load('./try-row') as typeof import('./try-row');

interface Request {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body?: unknown;
}

interface Response {
  json(body: unknown): void;
  status(code: number): Response;
}

type Next = () => void;

/** The routes of the sidebar *Models*. Values of a table leave behind a permission only. */
export function sidebarRoutes(red: Red): void {
  const read = red.auth.needsPermission('tabular-prediction.read');
  const write = red.auth.needsPermission('tabular-prediction.write');
  // A prediction changes nothing, but other services than the embedded one may charge for it.
  const mayTry = (request: Request, response: Response, next: Next): void => {
    const isFree =
      known()
        .services(red)
        .find(({ id }) => id === request.params.id)?.kind === 'embedded';
    (isFree ? read : write)(request as never, response as never, next);
  };

  red.httpAdmin.get('/tabular-prediction/sidebar/:id/model', read, (request: Request, response: Response) => {
    respond(response, () => shown().showModel(red, request.params.id ?? '', String(request.query.name)));
  });
  red.httpAdmin.post(
    '/tabular-prediction/sidebar/:id/try',
    mayTry,
    (request: Request, response: Response) => {
      respond(response, () => trying().tryRow(red, request.params.id ?? '', request.body ?? {}));
    },
  );
}
