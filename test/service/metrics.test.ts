import assert from 'node:assert/strict';

import { hasOpenMetricsParser, parseOpenMetrics } from '../helpers/openmetrics';
import { waitFor } from '../helpers/wait';
import { answerOf, Harness, line } from './harness';

const title = hasOpenMetricsParser() ? '' : ' (no parser here: install python3-prometheus-client)';

/* What the service tells a monitor, read back by the parser of the Prometheus project. */
describe('Service: metrics', function () {
  this.timeout(60_000);
  let h: Harness;
  before(async () => {
    h = await Harness.start({ showMetrics: true, token: 'very-secret' });
  });
  after(() => h.stop());

  const scrape = () => fetch(h.url('/metrics'));

  it('are off unless they are asked for', async () => {
    const off = await Harness.start();
    try {
      const { status, body } = await answerOf(await fetch(off.url('/metrics')));
      assert.equal(status, 404);
      assert.match(body.message, /off.*--metrics/);
    } finally {
      await off.stop();
    }
  });

  it('are text of OpenMetrics 1.0, before the first request as well', async () => {
    const response = await scrape();
    assert.equal(response.status, 200);
    assert.equal(
      response.headers.get('content-type'),
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    );
    const text = await response.text();
    assert.ok(text.endsWith('\n# EOF\n'));
    assert.equal((await fetch(h.url('/metrics'), { method: 'HEAD' })).status, 200);
  });

  it(`count requests, fits and rows, with labels of closed sets and no secret${title}`, async function () {
    if (!hasOpenMetricsParser()) {
      this.skip();
    }
    const { x, y } = line(60);
    const fitted = await h.fit(x, y, 'regression');
    assert.equal((await h.predict(fitted, x, 'regression')).status, 200);
    const upload = await h.uploadTrain('a\nb\nc', 'y\nd\ne', { force_reupload: true });
    assert.equal((await h.post('fit', { train_set_upload_id: upload, task: 'regression' })).status, 422);
    for (const route of ['/nothing', `/${fitted}/fit`, '/svc/%22%0A', '/svc/get_model_limits']) {
      await fetch(h.url(route), { headers: { authorization: 'Bearer wrong' } });
      await h.get(route);
    }
    // A request is counted when its connection has sent the answer.
    const text = await waitFor('the counts', async () => {
      const read = await (await scrape()).text();
      return read.includes('route="get_model_limits",code="200",le="+Inf"} 1\n') && read;
    });
    const families = parseOpenMetrics(text);
    const samples = families.flatMap((family) => family.samples);
    const valueOf = (name: string, labels: Record<string, string> = {}): number | undefined => {
      const found = samples.find(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      );
      return found && Number(found.value);
    };
    const requests = 'tabular_service_request_duration_seconds_count';
    assert.equal(valueOf(requests, { route: 'predict', code: '200' }), 1);
    assert.equal(valueOf(requests, { route: 'fit', code: '422' }), 1);
    assert.equal(valueOf(requests, { route: 'upload', code: '200' }), 5);
    assert.equal(valueOf(requests, { route: 'none', code: '401' }), 4);
    assert.equal(valueOf(requests, { route: 'none', code: '404' }), 2);
    assert.equal(valueOf('tabular_service_fit_duration_seconds_count', { result: 'completed' }), 1);
    assert.equal(valueOf('tabular_service_fit_duration_seconds_count', { result: 'failed' }), 1);
    assert.equal(valueOf('tabular_service_predicted_rows_total'), 60);
    assert.equal(valueOf('tabular_service_models'), 1);
    assert.equal(valueOf('tabular_service_ready'), 1);
    assert.ok(valueOf('process_resident_memory_bytes')! > 1e7);
    assert.ok(valueOf('process_cpu_seconds_total')! > 0);
    const now = Date.now() / 1000;
    assert.ok(valueOf('process_start_time_seconds')! <= now + 1);
    for (const { name, unit, type, help } of families) {
      assert.match(name, /^(tabular_service|process)_[a-z_]+$/);
      assert.match(help, /^[A-Z].*\.$/, name);
      assert.ok(unit === '' || name.endsWith(`_${unit}`), name);
      assert.ok(type !== 'unknown', name);
    }
    const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    assert.deepEqual([...labels].sort(), ['code', 'le', 'result', 'route', 'version']);
    for (const secret of ['very-secret', 'wrong', fitted, upload, 'nothing']) {
      assert.ok(!text.includes(secret), secret);
    }
  });
});
