import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';

import { type Harness, hashOf, UUID } from './harness';
import { parquetOf } from './parquet-file';
import { sharedService } from './shared';

/*
 * A client of the hosted service's own kind, written from the specification with node:http alone: it knows
 * nothing of this package, has another product name, and takes the answers at their word.
 */

const API = 'nimbus';

interface Reply {
  status: number;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever JSON a test looks into
  json: any;
}

function send(
  method: string,
  url: string,
  headers: Record<string, string>,
  body?: string | Uint8Array,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const req = request(url, { method, headers }, (res: IncomingMessage) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (part: string) => (text += part));
      res.on('end', () => {
        const body = text.trim();
        const json: unknown = body.startsWith('{') ? JSON.parse(body) : undefined;
        resolve({ status: res.statusCode ?? 0, text, json });
      });
    });
    req.on('error', reject);
    req.end(body);
  });
}

class ForeignClient {
  constructor(
    private readonly base: string,
    private readonly token: string,
  ) {}

  post(route: string, body: object): Promise<Reply> {
    const text = JSON.stringify(body);
    return send(
      'POST',
      `${this.base}/${API}/${route}`,
      {
        Authorization: `Bearer ${this.token}`,
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(text)),
        'User-Agent': 'python-requests/2.32.3',
        Accept: '*/*',
      },
      text,
    );
  }

  get(route: string): Promise<Reply> {
    return send('GET', `${this.base}/${API}/${route}`, { Authorization: `Bearer ${this.token}` });
  }

  async put(info: { signed_urls: string[]; required_headers: Record<string, string> }, file: Uint8Array) {
    const headers = { ...info.required_headers, 'Content-Length': String(file.length) };
    const { status, text } = await send('PUT', info.signed_urls[0]!, headers, file);
    assert.ok(status >= 200 && status < 300, text);
  }
}

const n = 200;
const rows = Array.from({ length: n }, (_, i) => i);
const features = {
  temperature: rows.map((i) => 20 + (i % 40) + (i % 3) / 10),
  pressure: rows.map((i) => (i % 17 === 0 ? null : 1 + (i % 5) / 10)),
  site: rows.map((i) => ['Łódź', 'Oslo', 'Bern'][i % 3]),
  running: rows.map((i) => i % 2 === 0),
};
const failing = rows.map((i) => (features.temperature[i]! > 45 ? 'fails' : 'runs'));
const wear = rows.map((i) => features.temperature[i]! * 3 + (i % 3));
const some = (list: unknown[]): unknown[] => list.slice(0, 20);
const testFile = (): Uint8Array =>
  parquetOf(Object.fromEntries(Object.entries(features).map(([name, list]) => [name, some(list)])));

describe('Service: a client of the hosted service', () => {
  let h: Harness;
  let client: ForeignClient;
  before(async () => {
    h = await sharedService();
    client = new ForeignClient(h.service.url, h.service.token);
  });

  async function uploadTrain(target: unknown[], naming: 'schema' | 'sample' | 'quickstart'): Promise<string> {
    const x = parquetOf(features);
    const y = parquetOf({ target });
    const info = (name: string, file: Uint8Array): object => {
      if (naming === 'quickstart') {
        return { format: 'parquet' };
      }
      const size_bytes = file.length;
      return naming === 'schema'
        ? { format: 'parquet', hash: hashOf(file), size_bytes, use_chunks: false }
        : { filename: `${name}.parquet`, size_bytes, content_hash: hashOf(file) };
    };
    const { status, json } = await client.post('prepare_train_set_upload', {
      x_train_info: info('x_train', x),
      y_train_info: info('y_train', y),
      description: 'a foreign client',
      force_reupload: true,
    });
    assert.equal(status, 200);
    await client.put(json.x_train_info, x);
    await client.put(json.y_train_info, y);
    return json.train_set_upload_id as string;
  }

  async function uploadTest(fittedId: string): Promise<string> {
    const file = testFile();
    const { status, json } = await client.post('prepare_test_set_upload', {
      fitted_train_set_id: fittedId,
      x_test_info: { format: 'parquet', hash: hashOf(file), size_bytes: file.length },
    });
    if (status === 409) {
      return json.test_set_upload_id as string;
    }
    assert.equal(status, 200);
    await client.put(json.x_test_info, file);
    return json.test_set_upload_id as string;
  }

  it('walks limits, cost, upload, fit in shape B, test upload and predict', async () => {
    const limits = await client.get('get_model_limits');
    assert.ok(limits.json.max_model_limit.train_set_max_rows >= n);
    const cost = await client.post('estimate_cost', { operation: 'predict', train_rows: n, test_rows: 20 });
    assert.equal(cost.json.estimated_cost, 0);
    const uploaded = await uploadTrain(failing, 'schema');
    const fit = await client.post('fit', {
      train_set_upload_id: uploaded,
      task_config: { task: 'classification', [`${API}_config`]: { n_estimators: 4, random_state: 42 } },
      [`${API}_systems`]: ['preprocessing', 'text'],
    });
    assert.equal(fit.status, 200, fit.text);
    const fitted = fit.json.fitted_train_set_id as string;
    assert.match(fitted, UUID);
    const predict = await client.post('predict', {
      test_set_upload_id: await uploadTest(fitted),
      fitted_train_set_id: fitted,
      task_config: {
        task: 'classification',
        [`${API}_config`]: { n_estimators: 4, random_state: 42 },
        predict_params: { output_type: 'probas' },
      },
    });
    assert.equal(predict.status, 200, predict.text);
    const { prediction, metadata } = predict.json;
    assert.deepEqual(metadata.classes, ['fails', 'runs']);
    assert.equal(metadata[`${API}_config`].n_estimators, 4);
    assert.equal(metadata.svc_config, undefined);
    assert.deepEqual([metadata.test_set_num_rows, metadata.test_set_num_cols], [20, 4]);
    prediction.forEach(([fails]: number[], i: number) => assert.equal(fails! > 0.5, failing[i] === 'fails'));
  });

  it('walks the same in shape A with the names of the samples, for a regression with quantiles', async () => {
    const uploaded = await uploadTrain(wear, 'sample');
    const fit = await client.post('fit', {
      train_set_upload_id: uploaded,
      task: 'regression',
      [`${API}_systems`]: ['preprocessing'],
      [`${API}_config`]: { random_state: 1, model_path: 'v3.5_default', inference_precision: 'auto' },
      force_refit: false,
    });
    assert.equal(fit.status, 200, fit.text);
    const fitted = fit.json.fitted_train_set_id as string;
    const test = await uploadTest(fitted);
    assert.notEqual(await uploadTest(fitted), test, '32 bits make no duplicate of a test set');
    const predict = await client.post('predict', {
      test_set_upload_id: test,
      fitted_train_set_id: fitted,
      task_config: {
        task: 'regression',
        predict_params: { output_type: 'quantiles', quantiles: [0.05, 0.5, 0.95] },
      },
      force_refit: true,
    });
    assert.equal(predict.status, 200, predict.text);
    const [low, middle, high] = predict.json.prediction as [number[], number[], number[]];
    assert.equal(low.length, 20);
    middle.forEach((value, i) => {
      assert.ok(low[i]! <= value && value <= high[i]!);
      assert.ok(Math.abs(value - wear[i]!) < 10, `row ${i}: ${value} for ${wear[i]}`);
    });
  });

  it('serves the quickstart, which sends only the format, and a thinking fit in both shapes', async () => {
    const uploaded = await uploadTrain(failing, 'quickstart');
    const flat = await client.post('fit', {
      train_set_upload_id: uploaded,
      task: 'classification',
      thinking_effort: 'medium',
      thinking_timeout_s: 2,
      thinking_effort_metric: 'log_loss',
    });
    assert.equal(flat.status, 200, flat.text);
    const nested = await client.post('fit', {
      train_set_upload_id: uploaded,
      task_config: { task: 'classification' },
      thinking_config: { effort: 'medium', timeout_secs: 2, metric: 'log_loss' },
    });
    assert.equal(nested.json.fitted_train_set_id, flat.json.fitted_train_set_id, 'the same request');
  });

  it('gives booleans back as booleans', async () => {
    const fit = await client.post('fit', {
      train_set_upload_id: await uploadTrain(features.running, 'schema'),
      task_config: { task: 'classification' },
    });
    const fitted = fit.json.fitted_train_set_id as string;
    const predict = await client.post('predict', {
      test_set_upload_id: await uploadTest(fitted),
      fitted_train_set_id: fitted,
      task_config: { task: 'classification', predict_params: { output_type: 'preds' } },
    });
    assert.deepEqual(predict.json.metadata.classes, [false, true]);
    assert.deepEqual(predict.json.prediction, some(features.running));
  });
});
