import assert from 'node:assert/strict';

import { type RealNodeRed, startNodeRed } from '../helpers/node-red';
import { startStrictService, type StrictService } from '../helpers/strict-service';
import { sheet } from './editor';

const USERS = {
  admin: '*',
  reader: 'read',
  narrow: 'tabular-prediction.read',
  stranger: 'flows.read',
  tester: 'tabular-prediction.write',
};

/** Users who may do different things; the password of each is their name. */
const SETTINGS = `adminAuth: {
  type: 'credentials',
  users: (name) => Promise.resolve(${JSON.stringify(USERS)}[name] && { username: name, permissions: ${JSON.stringify(USERS)}[name] }),
  authenticate: (name, password) => Promise.resolve(name === password ? { username: name, permissions: ${JSON.stringify(USERS)}[name] } : null),
},`;

const READ = [
  ...['models', 'versions'].map((what) => `/tabular-prediction/local/${what}`),
  '/tabular-prediction/models',
];
const COLUMNS = '/tabular-prediction/fit/columns';

describe("the dialogs' routes behind adminAuth", function () {
  this.timeout(60_000);
  let red: RealNodeRed;
  let service: StrictService;

  before(async () => {
    service = await startStrictService();
    red = await startNodeRed({ flows: sheet(), settings: SETTINGS });
  });

  after(async () => {
    await red?.stop();
    await service?.close();
  });

  async function login(user: string): Promise<Record<string, string>> {
    const answer = await fetch(`${red.url}/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_id: 'node-red-admin',
        grant_type: 'password',
        scope: '',
        username: user,
        password: user,
      }),
    });
    assert.equal(answer.status, 200, user);
    const { access_token } = (await answer.json()) as { access_token: string };
    return { authorization: `Bearer ${access_token}` };
  }

  const get = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`${red.url}${path}`, { headers })).status;
  const test = (headers: Record<string, string> = {}, baseUrl = service.url) =>
    fetch(`${red.url}/tabular-prediction/local/test`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ service: 'hosted', baseUrl, token: service.token }),
    });

  it('answer nobody who has not logged in, and no request is sent for them', async () => {
    const asked = service.requests.length;
    for (const path of [...READ, COLUMNS]) {
      assert.equal(await get(path), 401, path);
    }
    assert.equal((await test()).status, 401);
    assert.equal(service.requests.length, asked);
  });

  it('answer nobody who has other permissions only', async () => {
    const headers = await login('stranger');
    for (const path of [...READ, COLUMNS]) {
      assert.equal(await get(path, headers), 401, path);
    }
    assert.equal((await test(headers)).status, 401);
  });

  it('let a reader see models, versions and columns, but not test a connection', async () => {
    for (const user of ['narrow', 'reader']) {
      const headers = await login(user);
      for (const path of [...READ, COLUMNS]) {
        assert.equal(await get(path, headers), 200, `${user} ${path}`);
      }
      assert.equal((await test(headers)).status, 401, user);
    }
  });

  it('let a user who may test connections do so, but not send environment variables anywhere', async () => {
    const headers = await login('tester');
    assert.equal((await test(headers)).status, 200);
    const asked = service.requests.length;
    assert.equal((await test(headers, `${service.url}/\${HOME}`)).status, 401);
    assert.equal(service.requests.length, asked);
    assert.equal((await test(await login('admin'), `${service.url}/\${HOME}`)).status, 200);
    assert.ok(service.requests.length > asked);
  });

  it('let an administrator do both', async () => {
    const headers = await login('admin');
    for (const path of [...READ, COLUMNS]) {
      assert.equal(await get(path, headers), 200, path);
    }
    const answer = await test(headers);
    assert.equal(answer.status, 200);
    assert.equal(((await answer.json()) as { ok: boolean }).ok, true);
  });
});
