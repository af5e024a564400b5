import assert from 'node:assert/strict';
import { Readable } from 'node:stream';

import { ServiceClient, type UploadSource } from '../../dist/src/client';
import { ServiceError } from '../doors/wire';
import { bytesOf, flowers, Harness, hashOf, line } from './harness';

function source(text: string): UploadSource {
  const bytes = bytesOf(text);
  return {
    format: 'csv',
    bytes: bytes.length,
    hash: hashOf(text),
    open: (start = 0, end = bytes.length) => Readable.from([Buffer.from(bytes.subarray(start, end))]),
  };
}

describe('Service: the client of this package', () => {
  let h: Harness;
  let client: ServiceClient;
  before(async () => {
    h = await Harness.start({ chunkBytes: 1000, keepaliveMs: 5 });
    client = new ServiceClient({
      baseUrl: h.service.url,
      token: h.service.token,
      dialect: { apiName: 'acme' },
    });
  });
  after(async () => {
    await client.close();
    await h.stop();
  });

  it('uploads in chunks, reuses duplicates, fits, predicts, and reads every shape of prediction', async () => {
    const { x, y } = line(400);
    const request = { x: source(x), y: source(y), chunks: true };
    const first = await client.uploadTrainSet(request);
    assert.equal(first.reused, false);
    const again = await client.uploadTrainSet(request);
    assert.deepEqual(again, { ...first, reused: true });
    const { train_set_upload_id } = first;
    const svc_config = { n_estimators: 2 };
    const fit = await client.fit({ train_set_upload_id, task: 'regression', svc_config });
    assert.equal(fit.status, 'completed');
    const fitted_train_set_id = fit.fitted_train_set_id;
    const rows = source(line(30).x);
    const test = await client.uploadTestSet({ fitted_train_set_id, x: rows });
    assert.equal((await client.uploadTestSet({ fitted_train_set_id, x: rows, force: true })).reused, false);
    const ids = { fitted_train_set_id, test_set_upload_id: test.test_set_upload_id };
    const kinds = {
      mean: 'numbers',
      median: 'numbers',
      mode: 'numbers',
      quantiles: 'quantiles',
      full: 'full',
    } as const;
    for (const [output_type, kind] of Object.entries(kinds)) {
      const answer = await client.predict({
        ...ids,
        task: 'regression',
        output_type: output_type as keyof typeof kinds,
      });
      assert.equal(answer.prediction.kind, kind);
      assert.equal(answer.rows, 30);
      assert.equal(answer.metadata.svc_config?.model_path, 'embedded');
    }
  });

  it('gets an error that comes after whitespace as the error it is', async () => {
    const y = `y\n${'1.5\n'.repeat(50_000)}`;
    const { train_set_upload_id } = await client.uploadTrainSet({ x: source('a\n1\n'), y: source(y) });
    await assert.rejects(client.fit({ train_set_upload_id, task: 'regression' }), (error: ServiceError) => {
      assert.equal(error.cause?.status, 422);
      assert.match(error.message, /1 rows .* 50000/);
      return true;
    });
  });

  it('predicts by the deprecated route too', async () => {
    const { x, y } = flowers();
    const fitted = await h.fit(x, y, 'classification');
    // oxlint-disable-next-line typescript/no-deprecated -- the old route is tested too
    const answer = await client.predictLegacy({
      data: { model_id: fitted, task: 'classification', output_type: 'preds' },
      file: source(x),
    });
    assert.deepEqual(answer.prediction.kind === 'labels' && answer.prediction.values.slice(0, 3), [
      'aster',
      'basil',
      'élan',
    ]);
  });
});
