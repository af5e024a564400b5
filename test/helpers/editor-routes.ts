/** A request that the editor can make of this package, on a Node-RED with the config nodes `local` and `hosted`. */
export interface EditorCall {
  method: 'GET' | 'POST';
  /** The route as it is registered. */
  route: string;
  path: string;
  /** JSON; none where the route takes a file. */
  body?: object;
  /** What a user must be allowed to do, all of it. */
  needs: readonly Permission[];
}

export type Permission = 'tabular-prediction.read' | 'tabular-prediction.write' | 'flows.write';

const READ = ['tabular-prediction.read'] as const;
const WRITE = ['tabular-prediction.write'] as const;
const WRITE_ALL = ['tabular-prediction.write', 'flows.write'] as const;
const ROOT = '/tabular-prediction';

const get = (route: string, path: string): EditorCall => ({
  method: 'GET',
  route: `${ROOT}${route}`,
  path: `${ROOT}${path}`,
  needs: READ,
});

const post = (
  route: string,
  path: string,
  needs: EditorCall['needs'],
  body?: EditorCall['body'],
): EditorCall => ({
  method: 'POST',
  route: `${ROOT}${route}`,
  path: `${ROOT}${path}`,
  needs,
  ...(body !== undefined && { body }),
});

/** Each route of this package, and each right that one of its requests may need. `address` is that of a service. */
export const editorCalls = (address: string): EditorCall[] => [
  get('/:id/models', '/local/models'),
  get('/:id/versions', '/local/versions'),
  get('/:id/columns', '/fit/columns'),
  get('/:id/types', '/fit/types'),
  get('/:id/last-reading', '/fit/last-reading'),
  get('/models', '/models'),
  get('/models/:service', '/models/local'),
  get('/models/:service/card', '/models/local/card?model=m'),
  get('/models/:service/export', '/models/local/export?model=m'),
  get('/sidebar/:id/model', '/sidebar/local/model?name=m'),
  get('/watch/:model', '/watch/m'),
  get('/anomalies', '/anomalies'),
  get('/anomalies/:node/machine', '/anomalies/anomaly/machine?key=k'),
  post('/anomalies/:node/confirm', '/anomalies/anomaly/confirm', WRITE, { id: 'i', answer: 'real' }),
  post('/anomalies/:node/odd', '/anomalies/anomaly/odd', WRITE, { answer: 'usual' }),
  post('/:id/test', '/local/test', WRITE, { service: 'hosted', baseUrl: address, token: 'typed' }),
  // Environment variables leave for those alone who may read them in a flow.
  post('/:id/test', '/local/test', WRITE_ALL, { service: 'hosted', baseUrl: address, token: '${HOME}' }),
  post('/:id/test', '/local/test', WRITE_ALL, {
    service: 'hosted',
    baseUrl: `${address}/\${HOME}`,
    token: 'a',
  }),
  post('/:id/test', '/local/test', WRITE_ALL, {
    ...{ service: 'hosted', baseUrl: address, token: 'typed' },
    apiName: '${HOME}',
  }),
  post('/models/:service/rollback', '/models/local/rollback', WRITE, { model: 'm' }),
  post('/models/:service/rename', '/models/local/rename', WRITE, { model: 'm', name: 'n' }),
  post('/models/:service/threshold', '/models/local/threshold', WRITE, { model: 'm', threshold: 0.5 }),
  post('/models/:service/costs', '/models/local/costs', WRITE, { model: 'm', costs: null }),
  post('/models/:service/delete', '/models/local/delete', WRITE, { model: 'm' }),
  post('/models/:service/import', '/models/local/import', WRITE),
  // A prediction changes nothing, but a service that is not ours may charge for it.
  post('/sidebar/:id/try', '/sidebar/local/try', READ, { model: 'm', row: { x: 1 } }),
  post('/sidebar/:id/try', '/sidebar/hosted/try', WRITE, { model: 'm', row: { x: 1 } }),
  post('/sidebar/:id/try', '/sidebar/gone/try', WRITE, { model: 'm', row: { x: 1 } }),
  post('/sidebar/:id/advise', '/sidebar/local/advise', READ, { model: 'm', row: { x: 1 } }),
  post('/sidebar/:id/advise', '/sidebar/hosted/advise', WRITE, { model: 'm', row: { x: 1 } }),
];
