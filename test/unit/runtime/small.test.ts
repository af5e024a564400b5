import assert from 'node:assert/strict';

import { tableFromArrays } from 'apache-arrow';

import {
  columnNames,
  endpointUrl,
  filePath,
  fromEnvironment,
  inside,
  insideOptions,
  type Message,
  modelsPath,
  namedModel,
  proxyOptions,
  requiredModel,
  serviceFolder,
  serviceUrl,
  tableReader,
  tlsOptions,
  tuning,
} from '../../doors/runtime';
import { serviceKey } from '../../doors/scoring';
import { fakeNode, fakeRed, fakeRuntime } from './fake';

describe('environment variables in a field', () => {
  beforeEach(() => {
    process.env.TABULAR_TEST = 'eu';
  });
  after(() => {
    delete process.env.TABULAR_TEST;
  });

  it('take the place of ${NAME}, alone and inside a longer text', () => {
    const read = (value: unknown) => fromEnvironment(fakeRuntime({}), value);
    assert.equal(read('${TABULAR_TEST}'), 'eu');
    assert.equal(read('https://${TABULAR_TEST}.api/${TABULAR_TEST}'), 'https://eu.api/eu');
    assert.equal(read('TABULAR_TEST'), 'TABULAR_TEST');
    assert.equal(read(900), '900');
    assert.equal(read(undefined), '');
  });

  it('are an error that names them where they are not set; set to nothing they leave the field empty', () => {
    const read = (value: unknown, node = fakeNode()) => fromEnvironment({ red: fakeRed(), node }, value);
    for (const text of ['${TABULAR_NOT_SET}', 'https://${TABULAR_TEST}.${TABULAR_NOT_SET}/api']) {
      assert.throws(() => read(text), {
        code: 'config.invalid',
        message: /The environment variable TABULAR_NOT_SET is not set/,
      });
    }
    process.env.TABULAR_TEST = '';
    assert.equal(read('${TABULAR_TEST}'), '');
    assert.equal(read('a${TABULAR_TEST}b'), 'ab');
  });

  it("may be Node-RED's own, also where the user gave no name", () => {
    const node = Object.assign(fakeNode('n7'), { name: undefined });
    assert.equal(fromEnvironment({ red: fakeRed(), node: node }, '${NR_NODE_ID}:${NR_NODE_NAME}'), 'n7:');
  });

  it('are not read for a dialog that was not deployed where flows may not read them', () => {
    process.env.TABULAR_TEST = 'hush';
    const red = fakeRed({}, { envVarExcludes: ['TABULAR_TEST'] });
    assert.throws(() => fromEnvironment({ red, node: undefined }, '${TABULAR_TEST}'), {
      code: 'config.invalid',
    });
    assert.equal(fromEnvironment({ red: fakeRed(), node: undefined }, '${TABULAR_TEST}'), 'hush');
  });
});

describe('environment variables inside a list or an object', () => {
  const SET = {
    TABULAR_A: 'a "b", c',
    TABULAR_N: '8',
    TABULAR_YES: 'true',
    TABULAR_JSON: '{"n_estimators": 4}',
  };
  before(() => Object.assign(process.env, SET));
  after(() => Object.keys(SET).forEach((name) => Reflect.deleteProperty(process.env, name)));

  const cases: [unknown, unknown, unknown?][] = [
    [undefined, undefined],
    ['', ''],
    ['x, ${TABULAR_N}', 'x, 8'],
    ['["x", "${TABULAR_A}"]', ['x', 'a "b", c']],
    [['${TABULAR_N}-x'], ['8-x']],
    ['{"${TABULAR_A}": "text"}', { 'a "b", c': 'text' }],
    ['{"n": ${TABULAR_N}}', '{"n": 8}'],
    ['${TABULAR_JSON}', '{"n_estimators": 4}'],
    ['{"a": {"b": ["${TABULAR_N}", 1]}}', { a: { b: ['8', 1] } }, { a: { b: [8, 1] } }],
    ['{"a": "${TABULAR_YES}", "b": "v${TABULAR_N}"}', { a: 'true', b: 'v8' }, { a: true, b: 'v8' }],
    ['{"a": "8"}', '{"a": "8"}'],
  ];
  for (const [field, expected, asOptions = expected] of cases) {
    it(`are put in: ${JSON.stringify(field)}`, () => {
      assert.deepEqual(inside(fakeRuntime({}), field), expected);
      assert.deepEqual(insideOptions(fakeRuntime({}), field), asOptions);
    });
  }

  for (const field of ['a, ${TABULAR_NOT_SET}', '["${TABULAR_NOT_SET}"]', '{"${TABULAR_NOT_SET}": 1}']) {
    it(`are named where they are not set: ${field}`, () => {
      assert.throws(() => inside(fakeRuntime({}), field), {
        code: 'config.invalid',
        message: /NOT_SET/,
      });
    });
  }
});

describe('column names at a glance', () => {
  const cases: [string, unknown, string[]][] = [
    ['rows', [{ a: 1, b: 2 }], ['a', 'b']],
    ['one row', { a: 1 }, ['a']],
    ['columns', { a: [1], b: [2] }, ['a', 'b']],
    [
      'a matrix',
      [
        ['a', 'b'],
        [1, 2],
      ],
      ['a', 'b'],
    ],
    ['CSV', 'a;"b ""x""";c\n1;2;3', ['a', 'b "x"', 'c']],
    ['an Arrow table', tableFromArrays({ a: [1] }), ['a']],
    ['one row with a column of that name', { schema: { fields: [{ name: 'a' }] } }, ['schema']],
    ['JSON text', '[{"a":1}]\n', []],
    ['bytes of text, as a file node reads them', Buffer.from('a;größe\n1;2\n'), ['a', 'größe']],
    ['bytes in Windows-1252', Buffer.from('a;größe\n1;2\n', 'latin1'), ['a', 'größe']],
    ['bytes that are no Buffer', new TextEncoder().encode('a;größe\n1;2\n'), ['a', 'größe']],
    ['a typed array', new Float64Array(1_000_000), []],
    ['bytes of a Parquet file', Buffer.from('PAR1\0a,b\n'), []],
    ['bytes of JSON', Buffer.from('[{"a":1}]\n'), []],
    ['nothing', null, []],
    ['no rows', [], []],
    ['a sparse row of names', [Object.assign([], { 0: 'a', length: 2e8 })], ['a']],
    ['a Proxy that throws', revoked(), []],
    ['a row that throws', [revoked()], []],
  ];
  function revoked(): object {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  }
  for (const [name, table, expected] of cases) {
    it(`are found: ${name}`, () => assert.deepEqual(columnNames(table), expected));
  }
});

describe('the address of a service', () => {
  it('loses the slash at its end', () => {
    assert.equal(serviceUrl(' https://a.example/x/ '), 'https://a.example/x');
    assert.equal(serviceKey('hosted', 'https://a.example/x'), 'https://a.example/x/svc');
  });

  it('of an endpoint is that of its route: /predict where no path is given', () => {
    assert.equal(endpointUrl(' https://a.example/ '), 'https://a.example/predict');
    assert.equal(
      endpointUrl('https://a.example:8080/v2/invocations'),
      'https://a.example:8080/v2/invocations',
    );
    assert.throws(() => endpointUrl(' '), /The endpoint has no address: fill in its URL/);
    const keys = [
      serviceKey('embedded', ''),
      serviceKey('hosted', 'https://a.example', 'predict'),
      serviceKey('onPrem', 'https://a.example/predict'),
    ];
    assert.equal(new Set(keys).size, 3);
  });

  const WITHOUT_HOST = [
    'http:///localhost:80/api',
    'https:/a/api',
    'https:a',
    'https:\\\\a',
    'https://\t/a/api',
  ];
  for (const wrong of ['', 'a.example', 'ftp://a.example', 'https://me:pw@a.example', ...WITHOUT_HOST]) {
    it(`is refused: "${wrong}"`, () => assert.throws(() => serviceUrl(wrong), { code: 'config.invalid' }));
  }

  it('has no password in its error', () => {
    for (const url of [
      'https://me:hush@a.example',
      'ftp://me:hush@a.example',
      'https://me:hush@',
      'me:hush@a b',
    ]) {
      assert.throws(
        () => serviceUrl(url),
        (error: Error) => !error.message.includes('hush'),
      );
    }
  });
});

describe('what the client is made of', () => {
  const def = (more: object) => ({ id: 'c', type: 'tabular-config', name: '', z: '', ...more });

  it('timeouts and counts with their defaults', () => {
    assert.deepEqual(tuning(fakeRuntime(def({}))), {
      timeoutMs: 900_000,
      retries: 4,
      concurrency: 4,
    });
    assert.deepEqual(tuning(fakeRuntime(def({ timeout: '60', retries: 0, concurrency: '2' }))), {
      timeoutMs: 60_000,
      retries: 0,
      concurrency: 2,
    });
    assert.throws(() => tuning(fakeRuntime(def({ timeout: 'soon' }))), {
      code: 'config.invalid',
    });
  });

  it('TLS settings from a tls-config node', () => {
    const node = {
      addTLSOptions: (o: object) =>
        Object.assign(o, { ca: 'CA', servername: '', rejectUnauthorized: false, x: 1 }),
    };
    assert.deepEqual(tlsOptions(fakeRed({ t: node }), 't'), { ca: 'CA', rejectUnauthorized: false });
    assert.equal(tlsOptions(fakeRed(), ''), undefined);
    assert.throws(() => tlsOptions(fakeRed(), 'gone'), { code: 'config.invalid' });
  });

  it('a proxy with its user and its exceptions', () => {
    const node = {
      url: 'http://proxy.example:8080',
      noproxy: ['localhost', ''],
      credentials: { username: 'me', password: 'p@ss' },
    };
    assert.deepEqual(proxyOptions(fakeRed({ p: node }), 'p'), {
      url: 'http://me:p%40ss@proxy.example:8080/',
      noProxy: ['localhost'],
    });
    assert.throws(() => proxyOptions(fakeRed(), 'gone'), { code: 'config.invalid' });
  });
});

describe('which model a message names', () => {
  const card = { fitted_train_set_id: 'f', columns: [] };
  const msg = (more: object) => ({ _msgid: 'm', ...more }) as Message;

  it('the dialog, then msg.model, then msg.fitted_train_set_id', () => {
    assert.deepEqual(namedModel('a', msg({ model: 'b' })), { model: 'a' });
    assert.deepEqual(namedModel('', msg({ model: 'b', fitted_train_set_id: 'c' })), { model: 'b' });
    assert.deepEqual(namedModel('', msg({ model: card })), { model: card });
    assert.deepEqual(namedModel('', msg({ fitted_train_set_id: 'c' })), { fittedTrainSetId: 'c' });
    assert.deepEqual(namedModel('', msg({})), {});
  });

  it('is refused where it is none', () => {
    assert.throws(() => requiredModel(fakeRuntime({}), '', msg({})), { code: 'model.unknown' });
    assert.throws(() => namedModel('', msg({ model: 7 })), { code: 'validation.failed' });
  });
});

describe('paths', () => {
  it('are in the user directory', () => {
    const red = fakeRed({}, { userDir: '/data' });
    assert.equal(modelsPath(red), '/data/tabular-prediction/models.json');
    assert.equal(serviceFolder(red), '/data/tabular-prediction/service');
  });

  it('begin at fileWorkingDirectory where a file is named', () => {
    assert.equal(filePath(fakeRed({}, { fileWorkingDirectory: '/srv' }), 'a.csv'), '/srv/a.csv');
    assert.equal(filePath(fakeRed({}, { fileWorkingDirectory: '/srv' }), '/x/a.csv'), '/x/a.csv');
  });
});

describe('where a table is read and written', () => {
  const reader = (def: object) => tableReader(fakeRuntime(def));
  const msg = (more: object) => ({ _msgid: 'm', ...more }) as Message;

  it('msg.payload by default, nested properties too', async () => {
    assert.deepEqual(await reader({}).read(msg({ payload: [1] })), { value: [1] });
    const nested = reader({ table: 'data.rows', tableType: 'msg' });
    const message = msg({ data: { rows: [1] } });
    assert.deepEqual(await nested.read(message), { value: [1] });
    nested.write(message, [2]);
    assert.deepEqual(message.data, { rows: [2] });
  });

  it('by JSONata, with the prediction then in msg.payload', async () => {
    const jsonata = reader({ table: 'payload.rows[x > 1]', tableType: 'jsonata' });
    const message = msg({ payload: { rows: [{ x: 1 }, { x: 2 }, { x: 3 }] } });
    assert.deepEqual(JSON.parse(JSON.stringify(await jsonata.read(message))), {
      value: [{ x: 2 }, { x: 3 }],
    });
    jsonata.write(message, 'result');
    assert.equal(message.payload, 'result');
  });

  it('an error of JSONata names the place', async () => {
    const broken = reader({ table: '$nope(', tableType: 'jsonata' });
    await assert.rejects(broken.read(msg({})), { code: 'table.invalid', message: /\$nope/ });
  });

  it('nothing there is table.empty with the place', async () => {
    await assert.rejects(reader({ table: 'a.b' }).read(msg({})), {
      code: 'table.empty',
      message: /msg\.a\.b/,
    });
  });

  it('an environment variable: its value as it is, or an error that names it', async () => {
    process.env.TABULAR_TEST = 'x,y\n1,2\n';
    try {
      const csv = { value: 'x,y\n1,2\n' };
      assert.deepEqual(await reader({ table: 'TABULAR_TEST', tableType: 'env' }).read(msg({})), csv);
      const folder = reader({ source: 'file', table: '/x/${TABULAR_TEST}', tableType: 'env' });
      process.env.TABULAR_TEST = 'a.csv';
      assert.deepEqual(await folder.read(msg({})), { path: '/x/a.csv' });
    } finally {
      delete process.env.TABULAR_TEST;
    }
    for (const [table, tableType] of [
      ['TABULAR_TEST', 'env'],
      ['/x/${TABULAR_TEST}', 'env'],
      ['/x/${TABULAR_TEST}', 'str'],
    ]) {
      await assert.rejects(reader({ source: 'file', table, tableType }).read(msg({})), {
        code: 'config.invalid',
        message: /TABULAR_TEST is not set/,
      });
    }
  });

  it('a file by its path', async () => {
    const file = reader({ source: 'file', table: '/x/a.csv', tableType: 'str' });
    assert.deepEqual(await file.read(msg({})), { path: '/x/a.csv' });
    await assert.rejects(reader({ source: 'file' }).read(msg({ payload: 7 })), { code: 'file.unreadable' });
  });

  it('a promise is refused, not waited for, wherever it is', async () => {
    const promise = Promise.resolve([{ x: 1 }]);
    const refusal = { code: 'table.invalid', message: /payload is a promise, not a table: await it/ };
    await assert.rejects(reader({}).read(msg({ payload: promise })), refusal);
    await assert.rejects(reader({ source: 'file' }).read(msg({ payload: promise })), refusal);
    assert.deepEqual(await reader({}).read(msg({ payload: { then: [1] } })), { value: { then: [1] } });
  });

  it('a context store that never answers is given up in time', async () => {
    const silent = { ...fakeNode(), context: () => ({ flow: { get: () => undefined } }) } as never;
    const slow = tableReader(fakeRuntime({ table: 'rows', tableType: 'flow' }, fakeRed(), silent), {
      timeoutMs: 20,
    });
    await assert.rejects(slow.read(msg({})), {
      code: 'table.invalid',
      message: /flow\.rows: there was no answer in 0\.02 s/,
    });
  });

  it('rows that cannot be put back are an error, not lost', () => {
    const nested = reader({ table: 'data.rows', tableType: 'msg' });
    assert.throws(() => nested.write(msg({ data: Object.freeze({ rows: [1] }) }), [2]), {
      code: 'validation.failed',
      message: /msg\.data\.rows cannot be written/,
    });
  });
});
