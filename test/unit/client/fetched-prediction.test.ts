import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';

import { type ClientOptions, EndpointClient, type ServiceClient } from '../../../dist/src/client';
import { type Fault, inTurn, type StrictService } from '../../helpers/strict-service';
import { fitted, ready, rejection, source, withService, xOf } from './support';

/** Runs a test with a service whose predictions lie behind signed URLs, and a client whose log is kept. */
async function withResults(
  options: Partial<ClientOptions>,
  work: (service: StrictService, client: ServiceClient, logs: string[]) => Promise<void>,
): Promise<void> {
  const logs: string[] = [];
  const log = (_: string, text: string) => logs.push(text);
  await withService({ predictionUri: true }, { log, ...options }, (service, client) =>
    work(service, client, logs),
  );
}

describe('client: a prediction behind a signed URL (prediction_uri)', () => {
  const random = Math.random;
  before(() => (Math.random = () => 0.02));
  after(() => (Math.random = random));

  it('is fetched without the bearer, in every shape', () =>
    withResults({}, async (service, client) => {
      const ids = [7, 3, 11];
      for (const [task, outputs] of [
        ['classification', ['probas', 'preds']],
        ['regression', ['mean', 'quantiles', 'main', 'full']],
      ] as const) {
        const fitted_train_set_id = await fitted(client, task);
        const { test_set_upload_id } = await client.uploadTestSet({ fitted_train_set_id, x: xOf(ids) });
        for (const output_type of outputs) {
          const asked = { fitted_train_set_id, test_set_upload_id, task, output_type, rows: 3 };
          const { prediction, rows, metadata } = await client.predict(asked);
          assert.equal(rows, 3);
          assert.equal(metadata.task, task);
          if (prediction.kind !== 'main' && prediction.kind !== 'full') {
            const sent = service.predictionFor(ids, output_type, { classes: ['a', 'b'] });
            assert.deepEqual(prediction.values, sent);
          } else {
            assert.deepEqual(prediction.value.mean, ids);
          }
        }
      }
      assert.equal(service.seen('download').length, 6);
      assert.deepEqual(service.breaches, []);
    }));

  it('keeps all digits of labels beyond 2^53', () =>
    withResults({}, async (service, client) => {
      const request = await ready(client);
      service.fault('download', inTurn({ status: 200, body: '[9007199254740993,1,2]' }));
      const { prediction } = await client.predict({ ...request, output_type: 'preds' });
      assert.deepEqual(prediction, { kind: 'labels', values: ['9007199254740993', 1, 2] });
    }));

  it('is taken from the answer itself where that has one', () =>
    withResults({}, async (service, client) => {
      const request = await ready(client);
      const values = [
        [1, 0],
        [1, 0],
        [0, 1],
      ];
      service.fault('predict', () => ({ patch: { prediction: values } }));
      assert.deepEqual((await client.predict(request)).prediction, { kind: 'probas', values });
      assert.equal(service.seen('download').length, 0);
    }));

  for (const [what, fault] of [
    ['408', { status: 408 }],
    ['429', { status: 429, headers: { 'retry-after': '0' } }],
    ['500', { status: 500 }],
    ['502', { status: 502, body: '<html>' }],
    ['503', { status: 503 }],
    ['504', { status: 504 }],
    ['a broken connection', { reset: 'before' }],
    ['an answer cut in half', { cutAt: 0.5 }],
  ] as [string, Fault][]) {
    it(`is fetched again after ${what}, and not predicted again`, () =>
      withResults({}, async (service, client) => {
        const request = await ready(client);
        service.fault('download', inTurn(fault, fault));
        const { rows } = await client.predict(request);
        assert.equal(rows, 3);
        assert.deepEqual([service.seen('predict').length, service.seen('download').length], [1, 3]);
        assert.deepEqual(service.breaches, []);
      }));
  }

  const expired = '<Error><Code>ExpiredToken</Code><Message>Expired &amp; gone.</Message></Error>';
  for (const [what, fault, downloads, pattern] of [
    ['refused', { status: 403, body: expired }, 1, /\(403\): ExpiredToken: Expired & gone\./],
    ['gone', { status: 404, body: 'No such object' }, 1, /\(404\): No such object/],
    ['redirected', { status: 307, headers: { location: '/results/other' } }, 1, /\(307\): it is redirected/],
    ['failing for good', { status: 503 }, 3, /\(503\): no explanation/],
    ['broken for good', { reset: 'before' }, 3, /connection to 127\.0\.0\.1:\d+ broke/],
    ['no JSON', { status: 200, body: '<html>' }, 1, /not JSON \(6 characters\)/],
    ['nothing', { status: 200, body: '  ' }, 1, /not JSON \(0 characters\)/],
    ['too long', { status: 200, body: `[${' '.repeat(2 ** 21)}]` }, 1, /longer than what was asked for/],
  ] as [string, Fault, number, RegExp][]) {
    it(`that is ${what} is predict.unknown with the reason, even where a predict may be repeated`, () =>
      withResults({ retries: 2 }, async (service, client, logs) => {
        const request = await ready(client);
        service.fault('download', () => fault);
        const asked = { ...request, rows: 3, classes: 2, retryAmbiguous: true };
        const error = await rejection(client.predict(asked), 'predict.unknown');
        assert.match(error.message, pattern);
        assert.match(error.message, /carried out and may have been metered, so it is not repeated/);
        assert.deepEqual([service.seen('predict').length, service.seen('download').length], [1, downloads]);
        assertNoSecret(service, [inspect(error, { depth: 9, showHidden: true }), ...logs]);
      }));
  }

  it('is predict.unknown at the deadline, and closed where the call is aborted', () =>
    withResults({}, async (service, client) => {
      const request = await ready(client);
      service.fault('download', () => ({ silent: true }));
      const error = await rejection(client.predict(request, { timeoutMs: 300 }), 'predict.unknown');
      assert.match(error.message, /did not end within 0\.3 s/);
      const calling = new AbortController();
      service.fault('download', () => {
        calling.abort();
        return { silent: true };
      });
      await rejection(client.predict(request, { signal: calling.signal }), 'closed');
    }));

  it('is fetched by http and https alone', () =>
    withResults({}, async (service, client) => {
      const request = await ready(client);
      for (const uri of ['file:///etc/passwd', 'gopher://127.0.0.1/x', 'nowhere']) {
        service.fault('predict', () => ({ patch: { prediction_uri: uri } }));
        const error = await rejection(client.predict(request), 'predict.unknown');
        assert.match(error.message, /not an http\(s\) URL/);
      }
      assert.equal(service.seen('download').length, 0);
    }));

  it('is what an answer must have, unless it has the prediction', () =>
    withResults({}, async (service, client) => {
      const request = await ready(client);
      for (const patch of [{ prediction_uri: undefined }, { prediction_uri: null, prediction: null }]) {
        service.fault('predict', () => ({ patch }));
        const error = await rejection(client.predict(request), 'response.invalid');
        assert.match(error.message, /prediction is required/);
      }
    }));

  it('is fetched for an endpoint with a single stateless route too', async () => {
    const fetched: (string | undefined)[] = [];
    const server = createServer((req, res) => {
      if (req.method === 'GET') {
        fetched.push(req.headers.authorization);
        res.end('[4,5]');
        return;
      }
      req.resume();
      const { port } = server.address() as AddressInfo;
      res.end(JSON.stringify({ prediction_uri: `http://127.0.0.1:${port}/results/1?signature=2` }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/predict`;
    const client = new EndpointClient({ baseUrl, token: 'a-token' });
    const rowsOf = (text: string) => source(text);
    const train = { x: rowsOf('[1],[2]'), y: rowsOf('[1],[2]') };
    const asked = { task: 'regression', train, test: rowsOf('[4],[5]'), rows: 2 } as const;
    const { prediction } = await client.predictRows(asked);
    assert.deepEqual(prediction, { kind: 'numbers', values: [4, 5] });
    assert.deepEqual(fetched, [undefined]);
    await client.close();
    server.close();
  });
});

/** No signature, and no path of a signed URL, is in any of the texts. */
function assertNoSecret(service: StrictService, texts: string[]): void {
  const text = texts.join('\n');
  assert.doesNotMatch(text, /results\/|signature=/);
  for (const { url } of service.seen('download')) {
    const signature = new URL(url, service.url).searchParams.get('signature');
    assert.ok(signature === null || !text.includes(signature), text);
  }
}
