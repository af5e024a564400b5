import assert from 'node:assert/strict';
import { startStrictService, type StrictService } from '../helpers/strict-service';
import { type Bench, startBench, stopBench, trainRows } from './bench';

describe('environment variables in the fields', () => {
  let service: StrictService;

  before(async () => {
    service = await startStrictService();
  });

  afterEach(() => stopBench());

  after(() => service.close());

  const start = (config: object, fit: object = {}) =>
    startBench({
      config: { service: 'hosted', baseUrl: service.url, ...config },
      token: service.token,
      nodes: [{ id: 'fit', type: 'tabular-fit', target: 'y', model: 'm', ...fit }],
    });

  async function refusal(bench: Bench): Promise<string> {
    service.requests.length = 0;
    bench.send('fit', { payload: trainRows() });
    const [caught] = await bench.caught.first();
    assert.equal(caught?.error?.code, 'config.invalid', caught?.error?.message);
    assert.equal(service.requests.length, 0, 'nothing was sent');
    return caught.error.message;
  }

  const unset: [string, (host: string) => object, object?][] = [
    // With empty text in its place the first part of the path would be the host.
    ['a base URL with the host in it', (host) => ({ baseUrl: `http://\${TABULAR_NOT_SET}/${host}` })],
    ['the whole base URL', () => ({ baseUrl: '${TABULAR_NOT_SET}' })],
    ['the API name', () => ({ apiName: '${TABULAR_NOT_SET}' })],
    ['the service', () => ({ service: '${TABULAR_NOT_SET}' })],
    ['a number', () => ({ timeout: '${TABULAR_NOT_SET}' })],
    ['a target', () => ({}), { target: '${TABULAR_NOT_SET}' }],
    ['a model name', () => ({}), { model: 'm-${TABULAR_NOT_SET}' }],
  ];
  for (const [name, config, fit] of unset) {
    it(`one that is not set is named, and nothing is sent: ${name}`, async () => {
      const bench = await start(config(service.url.replace(/^http:\/\//, '')), fit);
      assert.match(await refusal(bench), /The environment variable TABULAR_NOT_SET is not set/);
    });
  }

  it('one that is not set is named: the token', async () => {
    const bench = await startBench({
      config: { service: 'hosted', baseUrl: service.url },
      token: '${TABULAR_NOT_SET}',
      nodes: [{ id: 'fit', type: 'tabular-fit', target: 'y', model: 'm' }],
    });
    assert.match(await refusal(bench), /TABULAR_NOT_SET/);
  });

  it('one that is empty on purpose leaves its field empty, but a base URL has a host', async () => {
    process.env.TABULAR_EMPTY = '';
    try {
      const bench = await start({ apiName: '${TABULAR_EMPTY}' }, { target: '${TABULAR_EMPTY}' });
      bench.send('fit', { payload: trainRows(), target: 'y' });
      await bench.out('fit').first();
      const host = service.url.replace(/^http:\/\//, '');
      assert.match(await refusal(await start({ baseUrl: `http://\${TABULAR_EMPTY}/${host}` })), /no host/);
    } finally {
      delete process.env.TABULAR_EMPTY;
    }
  });

  it('of a subflow are those of its instance', async () => {
    const bench = await startBench({
      config: { service: 'hosted', baseUrl: service.url },
      token: service.token,
      nodes: [{ id: 'in', type: 'subflow:sf', env: [{ name: 'TARGET', type: 'str', value: 'y' }] }],
      extra: [
        {
          id: 'sf',
          type: 'subflow',
          name: 'train',
          in: [{ x: 1, y: 1, wires: [{ id: 'inner' }] }],
          out: [{ x: 2, y: 1, wires: [{ id: 'inner', port: 0 }] }],
          env: [
            { name: 'TARGET', type: 'str', value: '' },
            { name: 'WHERE', type: 'str', value: '' },
          ],
        },
        {
          ...{ id: 'inner', type: 'tabular-fit', z: 'sf', x: 1, y: 1, config: 'c', wires: [[]] },
          ...{ target: '${TARGET}', model: 'm${WHERE}-${NR_SUBFLOW_NAME}' },
        },
      ],
    });
    bench.send('in', { payload: trainRows() });
    const [msg] = await bench.out('in').first();
    assert.deepEqual([msg?.model.target, msg?.model.name], ['y', 'm-']);
  });
});
