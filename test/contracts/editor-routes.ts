import type { Json } from './contract-node-red';
import { TOKEN } from './played-service';
import { type Call, somePrices } from './user-folder-flow';

/** Users with what they may do; the password of each is the name. */
export const USERS: Record<string, string | string[]> = {
  everything: '*',
  viewer: 'read',
  reader: 'tabular-prediction.read',
  writer: 'tabular-prediction.write',
  both: ['tabular-prediction.read', 'tabular-prediction.write'],
  deployer: ['flows.write', 'flows.read'],
  'writer and deployer': ['tabular-prediction.write', 'flows.write'],
  nothing: [],
};

/** For settings.js. */
export const ADMIN_AUTH = `adminAuth: {
  type: 'credentials',
  users: (name) => Promise.resolve(${JSON.stringify(USERS)}[name] && { username: name, permissions: ${JSON.stringify(USERS)}[name] }),
  authenticate: (name, password) => Promise.resolve(name === password ? { username: name, permissions: ${JSON.stringify(USERS)}[name] } : null),
},`;

const OWN = '/tabular-prediction/models/own service';
const SIDEBAR = '/tabular-prediction/sidebar';
const post = (path: string, body: Json): Call => ({ call: `POST ${path}`, body });
const nobody = { model: 'nobody' };
const test = (body: Json, id = 'cloud'): Call => post(`/tabular-prediction/${id}/test`, body);
const cloud = { service: 'hosted', baseUrl: 'http://hosted.example.com' };

/** What each user is answered with; nothing is changed by it. */
export const PERMITTED: Call[] = [
  ...[
    '/tabular-prediction/models',
    OWN,
    `${OWN}/card?model=number`,
    `${OWN}/export?model=nobody`,
    `${SIDEBAR}/own service/model?name=number`,
    '/tabular-prediction/watch/pumps',
    '/tabular-prediction/own service/models',
    '/tabular-prediction/own service/versions',
    '/tabular-prediction/fit/columns',
    '/tabular-prediction/fit/types',
  ].map((path) => ({ call: `GET ${path}` })),
  post(`${OWN}/rollback`, nobody),
  post(`${OWN}/rename`, { ...nobody, name: 'somebody' }),
  post(`${OWN}/threshold`, { ...nobody, threshold: null }),
  post(`${OWN}/delete`, nobody),
  post(`${OWN}/import`, {}),
  post(`${SIDEBAR}/own service/try`, { ...nobody, row: {} }),
  post(`${SIDEBAR}/cloud/try`, { ...nobody, row: {} }),
  test({ service: 'hosted', baseUrl: 'no address' }),
  test({ service: 'hosted', baseUrl: '${HOME}' }),
];

/** What a user who may do everything is answered with. */
export const DONE: Call[] = [
  { call: 'GET /tabular-prediction/models/nowhere' },
  { call: `GET ${OWN}/card` },
  { call: `GET ${OWN}/card?model=nobody` },
  { call: `GET ${OWN}/export?model=number` },
  { call: 'GET /tabular-prediction/models/cloud/export?model=hosted model' },
  { call: 'GET /tabular-prediction/models/on site/export?model=endpoint model' },
  { call: 'GET /tabular-prediction/cloud/versions' },
  { call: 'GET /tabular-prediction/nowhere/versions' },
  { call: 'GET /tabular-prediction/nowhere/models?service=hosted&baseUrl=http://hosted.example.com' },
  { call: 'GET /tabular-prediction/fit hosted/columns' },
  { call: 'GET /tabular-prediction/fit hosted/types' },
  { call: 'GET /tabular-prediction/watch/nobody' },
  { call: `GET ${SIDEBAR}/own service/model?name=nobody` },
  post(`${SIDEBAR}/own service/try`, { model: 'number', row: somePrices[0] }),
  post(`${SIDEBAR}/own service/try`, { model: 'two classes', row: {} }),
  post(`${SIDEBAR}/cloud/try`, { model: 'hosted model', row: { length: 4, width: 2, wild: true } }),
  post(`${SIDEBAR}/own service/try`, { row: {} }),
  post(`${SIDEBAR}/own service/try`, { model: 'number', row: { rooms: 'many' } }),
  post(`${OWN}/rollback`, { model: 'two classes' }),
  post(`${OWN}/rollback`, { model: 'two classes', version: 3 }),
  post(`${OWN}/rollback`, { model: 'two classes', version: 8 }),
  post(`${OWN}/rollback`, { model: 'two classes', version: 'x' }),
  post(`${OWN}/rollback`, {}),
  ...[0.4, 'accuracy', 'f1', 'costs', null, 7, 'x'].map((threshold) =>
    post(`${OWN}/threshold`, { model: 'two classes', threshold }),
  ),
  post(`${OWN}/threshold`, { model: 'number', threshold: 0.5 }),
  post(`${OWN}/rename`, { model: 'line', name: 'a line' }),
  post(`${OWN}/rename`, { model: 'a line', name: 'number' }),
  post(`${OWN}/rename`, { model: 'a line' }),
  { call: `POST ${OWN}/import?name=number`, file: true },
  { call: `POST ${OWN}/import?name=again`, file: true },
  post(`${OWN}/delete`, { model: 'again' }),
  post(`${OWN}/delete`, { model: 'again' }),
  post('/tabular-prediction/models/cloud/delete', { model: 'hosted model' }),
  test({ ...cloud, token: TOKEN }),
  test({ ...cloud, token: '__PWRD__' }),
  test({ ...cloud, token: 'wrong' }),
  test({ ...cloud, baseUrl: 'http://acme.example.com', token: '__PWRD__' }),
  test({ ...cloud, baseUrl: 'http://acme.example.com', token: TOKEN, apiName: 'acme' }),
  test({ ...cloud, baseUrl: 'http://acme.example.com', token: TOKEN }),
  test({ ...cloud, token: '' }, 'nowhere'),
  test({ service: 'hosted', baseUrl: '', token: 'x' }),
  test({ service: 'onPrem', baseUrl: 'http://endpoint.example.com', token: TOKEN }, 'on site'),
  test({ service: 'onPrem', baseUrl: 'http://endpoint.example.com', token: '' }, 'nowhere'),
  test({ service: 'embedded' }, 'own service'),
  test({}, 'nowhere'),
  { call: `GET ${OWN}` },
];
