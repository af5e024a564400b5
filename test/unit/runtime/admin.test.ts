import assert from 'node:assert/strict';

import { adminRoutes, modelRoutes, type Red } from '../../doors/runtime';

describe('admin routes', () => {
  it('each stand behind a permission of Node-RED: reading, or writing for what changes or tests something', () => {
    const routes: string[] = [];
    const needsPermission = (permission: string) => Object.assign(() => undefined, { permission });
    const register =
      (method: string) =>
      (path: string, guard: { permission: string }, ...handlers: unknown[]) => {
        assert.equal(typeof handlers.at(-1), 'function');
        routes.push(`${method} ${path} ${guard.permission}`);
      };
    const red = {
      auth: { needsPermission },
      httpAdmin: { get: register('GET'), post: register('POST') },
    } as unknown as Red;
    adminRoutes(red, () => Promise.reject(new Error('nothing is started')));
    modelRoutes(red);
    assert.deepEqual(routes.sort(), [
      'GET /tabular-prediction/:id/columns tabular-prediction.read',
      'GET /tabular-prediction/:id/models tabular-prediction.read',
      'GET /tabular-prediction/:id/types tabular-prediction.read',
      'GET /tabular-prediction/:id/versions tabular-prediction.read',
      'GET /tabular-prediction/models tabular-prediction.read',
      'GET /tabular-prediction/models/:service tabular-prediction.read',
      'GET /tabular-prediction/models/:service/card tabular-prediction.read',
      'GET /tabular-prediction/models/:service/export tabular-prediction.read',
      'POST /tabular-prediction/:id/test tabular-prediction.write',
      'POST /tabular-prediction/models/:service/delete tabular-prediction.write',
      'POST /tabular-prediction/models/:service/import tabular-prediction.write',
      'POST /tabular-prediction/models/:service/rename tabular-prediction.write',
      'POST /tabular-prediction/models/:service/rollback tabular-prediction.write',
      'POST /tabular-prediction/models/:service/threshold tabular-prediction.write',
    ]);
  });
});
