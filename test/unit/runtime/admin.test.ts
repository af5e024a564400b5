import assert from 'node:assert/strict';

import { editorRoutes, type Red } from '../../doors/runtime';
import { editorCalls, type Permission } from '../../helpers/editor-routes';
import { fakeRed } from './fake';

type Next = () => void;
type Guard = (request: object, response: object, next: Next) => void;

const PERMISSIONS: Permission[] = ['tabular-prediction.read', 'tabular-prediction.write', 'flows.write'];

/** All routes with the guard before each, as they are registered for a user with these permissions. */
function registered(allowed: readonly Permission[]): Map<string, Guard> {
  const routes = new Map<string, Guard>();
  const register =
    (method: string) =>
    (route: string, guard: Guard, handler: unknown, ...more: unknown[]) => {
      assert.equal(typeof handler, 'function');
      assert.deepEqual(more, []);
      routes.set(`${method} ${route}`, guard);
    };
  const service = (kind: string) => ({ id: kind, state: { key: () => kind, kind } });
  const nodes = { local: { ...service('embedded'), id: 'local' }, hosted: service('hosted') };
  const red = fakeRed(nodes);
  Object.assign(red.nodes, {
    eachNode: (tell: (def: object) => void) =>
      Object.keys(nodes).forEach((id) => tell({ id, type: 'tabular-config' })),
  });
  Object.assign(red, {
    auth: {
      needsPermission:
        (permission: Permission): Guard =>
        (_request, _response, next) => {
          if (allowed.includes(permission)) {
            next();
          }
        },
    },
    httpAdmin: { get: register('GET'), post: register('POST') },
  } satisfies Partial<Record<keyof Red, object>>);
  editorRoutes(red, () => Promise.reject(new Error('nothing is started')));
  return routes;
}

describe('admin routes', () => {
  const calls = editorCalls('http://127.0.0.1:9');

  it('are those of the table, each behind a guard', () => {
    const known = new Set(calls.map(({ method, route }) => `${method} ${route}`));
    assert.deepEqual([...registered([]).keys()].sort(), [...known].sort());
  });

  /** Every set of permissions. */
  const users = Array.from({ length: 2 ** PERMISSIONS.length }, (_, bits) =>
    PERMISSIONS.filter((_permission, at) => (bits & (2 ** at)) > 0),
  );
  for (const user of users) {
    it(`let a user with ${user.join(', ') || 'no permission'} do that alone`, () => {
      const routes = registered(user);
      for (const { method, route, path, body, needs } of calls) {
        let passed = 0;
        const params = { id: path.split('/').at(-2) };
        routes.get(`${method} ${route}`)!({ params, body }, {}, () => passed++);
        const may = needs.every((permission) => user.includes(permission));
        assert.equal(passed, may ? 1 : 0, `${method} ${path} ${JSON.stringify(body)}`);
      }
    });
  }
});
