import assert from 'node:assert/strict';

import { type EditorCall, editorCalls } from '../helpers/editor-routes';
import { type RealNodeRed, startNodeRed } from '../helpers/node-red';
import { startStrictService, type StrictService } from '../helpers/strict-service';
import { sheet } from './editor';

const USERS: Record<string, string[]> = {
  admin: ['*'],
  reader: ['read'],
  narrow: ['tabular-prediction.read'],
  stranger: ['flows.read'],
  editor: ['flows.write'],
  tester: ['tabular-prediction.write'],
  operator: ['tabular-prediction.read', 'tabular-prediction.write'],
  author: ['tabular-prediction.write', 'flows.write'],
};

/** Users who may do different things; the password of each is their name. */
const SETTINGS = `adminAuth: {
  type: 'credentials',
  users: (name) => Promise.resolve(${JSON.stringify(USERS)}[name] && { username: name, permissions: ${JSON.stringify(USERS)}[name] }),
  authenticate: (name, password) => Promise.resolve(name === password ? { username: name, permissions: ${JSON.stringify(USERS)}[name] } : null),
},`;

type Body = NonNullable<RequestInit['body']>;

/** What a page of another origin can send without being asked, and what is no JSON object. */
const FORMS: [string, (body: object) => { body: Body; type?: string }][] = [
  ['a form', (body) => ({ body: new URLSearchParams(body as Record<string, string>) })],
  ['a form of parts', (body) => ({ body: formOf(body) })],
  ['plain text', (body) => ({ body: JSON.stringify(body), type: 'text/plain;charset=UTF-8' })],
  [
    'plain text that names JSON',
    (body) => ({ body: JSON.stringify(body), type: 'text/plain;application/json' }),
  ],
  ['no type', (body) => ({ body: new Blob([JSON.stringify(body)]) })],
  ['almost JSON', (body) => ({ body: JSON.stringify(body), type: 'application/jsonp' })],
  ['a list', (body) => ({ body: JSON.stringify([body]), type: 'application/json' })],
];

function formOf(body: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    form.set(name, String(value));
  }
  return form;
}

describe("the editor's routes behind adminAuth", function () {
  this.timeout(60_000);
  let red: RealNodeRed;
  let service: StrictService;
  let calls: EditorCall[];

  before(async () => {
    service = await startStrictService();
    calls = editorCalls(service.url);
    const hosted = {
      id: 'hosted',
      type: 'tabular-config',
      name: '',
      service: 'hosted',
      baseUrl: service.url,
    };
    const credentials = { token: service.token };
    red = await startNodeRed({ flows: sheet([{ ...hosted, credentials }]), settings: SETTINGS });
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

  const ask = ({ method, path, body }: EditorCall, headers: Record<string, string> = {}) =>
    fetch(`${red.url}${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  it('answer nobody who has not logged in, and no request is sent for them', async () => {
    const asked = service.requests.length;
    for (const call of calls) {
      assert.equal((await ask(call)).status, 401, call.path);
    }
    assert.equal(service.requests.length, asked);
  });

  for (const [user, has] of Object.entries(USERS)) {
    it(`let a user with ${has.join(', ')} do that alone`, async () => {
      const headers = await login(user);
      for (const call of calls) {
        const may = call.needs.every(
          (one) => has.includes(one) || has.includes('*') || (has.includes('read') && one.endsWith('.read')),
        );
        const asked = service.requests.length;
        const { status } = await ask(call, headers);
        const what = `${call.method} ${call.path} ${JSON.stringify(call.body)}`;
        assert.equal(status === 401, !may, `${status} ${what}`);
        assert.ok(may || service.requests.length === asked, `no request is sent: ${what}`);
      }
    });
  }

  it('let an administrator test a connection, and read what there is', async () => {
    const headers = await login('admin');
    const body = { service: 'hosted', baseUrl: service.url, token: service.token };
    const [test] = calls.filter(({ route }) => route.endsWith('/test'));
    assert.equal(((await (await ask({ ...test!, body }, headers)).json()) as { ok: boolean }).ok, true);
    for (const call of calls.filter(({ method, path }) => method === 'GET' && !path.includes('?'))) {
      assert.equal((await ask(call, headers)).status, 200, call.path);
    }
  });

  for (const [name, make] of FORMS) {
    it(`do nothing for ${name}, not even of an administrator`, async () => {
      const headers = await login('admin');
      const asked = service.requests.length;
      for (const { path, body = { name: 'n' } } of calls.filter(({ method }) => method === 'POST')) {
        const made = make(body);
        const answer = await fetch(`${red.url}${path}`, {
          method: 'POST',
          headers: { ...headers, ...(made.type !== undefined && { 'content-type': made.type }) },
          body: made.body,
        });
        assert.equal(answer.status, 400, path);
        assert.equal(((await answer.json()) as { code: string }).code, 'validation.failed', path);
      }
      assert.equal(service.requests.length, asked);
    });
  }

  it('do nothing by a GET, and take no JSON for a file nor a file for JSON', async () => {
    const headers = await login('admin');
    const asked = service.requests.length;
    for (const { path, body } of calls.filter(({ method }) => method === 'POST')) {
      assert.equal((await fetch(`${red.url}${path}`, { headers })).status, 404, path);
      const type = body === undefined ? 'application/json' : 'application/octet-stream';
      const answer = await fetch(`${red.url}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body: '{}',
      });
      assert.equal(answer.status, 400, path);
    }
    assert.equal(service.requests.length, asked);
  });
});
