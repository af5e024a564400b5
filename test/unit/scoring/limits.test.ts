import { strict as assert } from 'node:assert';

import fc from 'fast-check';

import { HostedService } from '../../../dist/src/connection';
import {
  chooseLimits,
  chooseVersion,
  LimitsCache,
  maxAnswerRows,
  maxTestRows,
  type ServiceCalls,
  sizeExcess,
  testExcess,
  trainExcess,
  versionNamed,
} from '../../doors/scoring';
import { type ModelLimits, ServiceError } from '../../doors/wire';
import { stoppedClock } from '../../helpers/clock';

const LIMITS: ModelLimits = {
  default_model_version: 'v2',
  max_model_limit: { train_set_max_rows: 7 },
  model_limits: {
    v2: { train_set_max_rows: 100, max_cols: 5, max_classes: 3, train_set_max_cells: 400 },
    'v3.5': { train_set_max_rows: 1000 },
    'v3.5-fast': { train_set_max_rows: 2000 },
  },
  dataset_max_size_bytes: 1000,
};

describe('limits', () => {
  it('the version is the longest key that model_path contains, else the default', () => {
    assert.equal(chooseVersion(LIMITS, {}), 'v2');
    assert.equal(chooseVersion(LIMITS, { model_path: 'auto' }), 'v2');
    assert.equal(chooseVersion(LIMITS, { model_path: 'v3.5_default' }), 'v3.5');
    assert.equal(chooseVersion(LIMITS, { model_path: 'v3.5-fast_default' }), 'v3.5-fast');
  });

  it('a version may be named by its key or by a model path; an unknown name stays unknown', () => {
    assert.equal(versionNamed(LIMITS, undefined), 'v2');
    assert.equal(versionNamed(LIMITS, 'v3.5'), 'v3.5');
    assert.equal(versionNamed(LIMITS, 'v3.5-fast_default'), 'v3.5-fast');
    assert.deepEqual(chooseLimits(LIMITS, versionNamed(LIMITS, 'v9')), { train_set_max_rows: 7 });
  });

  it('an unknown version has the limits of max_model_limit, even one named like an inherited property', () => {
    assert.deepEqual(chooseLimits(LIMITS, 'v9'), { train_set_max_rows: 7 });
    assert.deepEqual(chooseLimits(LIMITS, 'constructor'), { train_set_max_rows: 7 });
    assert.deepEqual(chooseLimits({}, 'v9'), {});
  });

  it('names each limit that a train set goes beyond; what is at the limit passes', () => {
    const set = chooseLimits(LIMITS, 'v2');
    assert.deepEqual(trainExcess(set, { rows: 100, columns: 4, classes: 3 }), []);
    assert.deepEqual(trainExcess(set, { rows: 101, columns: 6, classes: 4 }), [
      { limit: 'train_set_max_rows', value: 101, max: 100 },
      { limit: 'train_set_max_cells', value: 606, max: 400 },
      { limit: 'max_cols', value: 6, max: 5 },
      { limit: 'max_classes', value: 4, max: 3 },
    ]);
    assert.deepEqual(trainExcess({}, { rows: 1e9, columns: 1e6 }), []);
    assert.deepEqual(sizeExcess(LIMITS, 1001), [{ limit: 'dataset_max_size_bytes', value: 1001, max: 1000 }]);
    assert.deepEqual(sizeExcess({}, 1e12), []);
  });

  it('checks a train set against the cells that may be uploaded, where the service tells them', () => {
    const set = { train_set_max_cells: 400, train_set_max_upload_cells: 600 };
    assert.deepEqual(trainExcess(set, { rows: 100, columns: 6 }), []);
    assert.deepEqual(trainExcess(set, { rows: 101, columns: 6 }), [
      { limit: 'train_set_max_upload_cells', value: 606, max: 600 },
    ]);
  });

  it('rows of a test set: the tightest of all bounds, at least 1, and never beyond a limit', () => {
    const bound = fc.option(fc.integer({ min: 1, max: 10_000 }), { nil: undefined });
    fc.assert(
      fc.property(
        fc.record({
          test_set_max_rows: bound,
          predict_row_pairs_budget: bound,
          test_set_max_cells: bound,
          test_set_max_rows_w_full_regression_output: bound,
        }),
        fc.integer({ min: 0, max: 200 }),
        fc.integer({ min: 1, max: 50 }),
        fc.constantFrom('full' as const, 'mean' as const),
        (set, trainRows, columns, outputType) => {
          const rows = maxTestRows(set, { trainRows, columns, outputType });
          assert.ok(rows >= 1);
          const excess = (count: number) =>
            testExcess(set, { rows: count, columns }, { trainRows, outputType });
          if (rows > 1) {
            assert.deepEqual(excess(rows), []);
          }
          if (rows < Infinity) {
            assert.notDeepEqual(excess(rows + 1), []);
          }
        },
      ),
    );
  });

  it('an answer has at most 100,000 numbers', () => {
    assert.equal(maxAnswerRows('mean', 0, 0), 100_000);
    assert.equal(maxAnswerRows('probas', 160, 0), 625);
    assert.equal(maxAnswerRows('quantiles', 0, 9), 11_111);
    assert.ok(maxAnswerRows('full', 0, 0) >= 10);
  });
});

describe('LimitsCache', () => {
  function cache(answers: (ModelLimits | ServiceError)[]) {
    const warnings: string[] = [];
    let asked = 0;
    let now = 0;
    const client = {
      getModelLimits: () => {
        const answer = answers[Math.min(asked++, answers.length - 1)]!;
        return answer instanceof ServiceError ? Promise.reject(answer) : Promise.resolve(answer);
      },
    } as unknown as ServiceCalls;
    const limits = new LimitsCache(
      () => Promise.resolve(client),
      (text) => warnings.push(text),
      () => now,
    );
    return { limits, warnings, asked: () => asked, pass: (ms: number) => (now += ms) };
  }
  const away = new ServiceError('service.unavailable', 'away');
  const gone = new ServiceError('not_found', 'no such route');
  const HOUR = 3_600_000;

  it('asks once an hour, and at the same time only once', async () => {
    const { limits, asked, pass } = cache([LIMITS]);
    const { signal } = new AbortController();
    await Promise.all([limits.forChecks(), limits.forChecks(), limits.get(signal), limits.get(signal)]);
    assert.equal(asked(), 1);
    pass(HOUR + 1);
    await limits.get();
    assert.equal(asked(), 2);
  });

  it('serves older limits while the service is away', async () => {
    const { limits, pass } = cache([LIMITS, away]);
    await limits.get();
    pass(2 * HOUR);
    assert.equal(await limits.get(), LIMITS);
    assert.equal(await limits.forChecks(), LIMITS);
  });

  it('without the route there are no checks, and one warning', async () => {
    const { limits, warnings, asked, pass } = cache([gone]);
    assert.deepEqual(await limits.forChecks(), {});
    assert.deepEqual(await limits.forChecks(), {});
    assert.equal(asked(), 1);
    pass(HOUR + 1);
    await limits.forChecks();
    await new Promise(setImmediate);
    assert.equal(warnings.length, 1);
    assert.deepEqual(await limits.get(), {});
  });

  it('a limits node is told when the service is away and nothing is known', async () => {
    await assert.rejects(cache([away]).limits.get(), { code: 'service.unavailable' });
  });

  it('a service that is away does not stop the work before it begins, nor is it asked again at once', async () => {
    const { limits, asked, pass } = cache([away, LIMITS]);
    assert.deepEqual(await limits.forChecks(), {});
    assert.deepEqual(await limits.forChecks(), {});
    assert.equal(asked(), 1);
    pass(31_000);
    assert.equal(await limits.forChecks(), LIMITS);
  });
});

describe('the usage of an account', () => {
  const clock = stoppedClock();

  it('is asked for again ten minutes after a service said that it has no such route, and not before', async () => {
    const usage = { current_usage: 1, usage_limit: 2 };
    const answers = [new ServiceError('not_found', 'a gateway, while its service is deployed'), usage];
    let asked = 0;
    const getUsage = (): Promise<unknown> => {
      const answer = answers[asked++];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    };
    const client = { getUsage, close: () => Promise.resolve() } as never;
    const service = new HostedService({ key: 'hosted', open: () => Promise.resolve(client) });
    assert.deepEqual(await service.allowance(undefined), {});
    clock.pass(599_000);
    assert.deepEqual(await service.allowance(undefined), {});
    assert.equal(asked, 1);
    clock.pass(2_000);
    assert.deepEqual(await service.allowance(undefined), { usage });
    await service.close();
  });
});
