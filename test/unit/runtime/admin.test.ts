import assert from 'node:assert/strict';

import { adminRoutes, type Red } from '../../doors/runtime';

describe('admin routes', () => {
  it('each stand behind a permission of Node-RED: reading, or writing for the connection test', () => {
    const routes: string[] = [];
    const needsPermission = (permission: string) => Object.assign(() => undefined, { permission });
    const register =
      (method: string) =>
      (path: string, guard: { permission: string }, ...handlers: unknown[]) => {
        assert.equal(typeof handlers.at(-1), 'function');
        routes.push(`${method} ${path} ${guard.permission}`);
      };
    adminRoutes(
      {
        auth: { needsPermission },
        httpAdmin: { get: register('GET'), post: register('POST') },
      } as unknown as Red,
      () => Promise.reject(new Error('nothing is started')),
    );
    assert.deepEqual(routes.sort(), [
      'GET /tabular-prediction/:id/columns tabular-prediction.read',
      'GET /tabular-prediction/:id/models tabular-prediction.read',
      'GET /tabular-prediction/:id/types tabular-prediction.read',
      'GET /tabular-prediction/:id/versions tabular-prediction.read',
      'POST /tabular-prediction/:id/test tabular-prediction.write',
    ]);
  });
});
