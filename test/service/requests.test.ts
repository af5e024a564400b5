import assert from 'node:assert/strict';

import { type Answer, answerOf, type Harness, nobody } from './harness';
import { sharedService } from './shared';

/*
 * Every field of every request of S 4, in both fit shapes, both namings of file info and under another API name:
 * what it may hold, what it may not, which ones are required, that null counts as not given, and that only file info
 * refuses a property beside them.
 */

interface Field {
  /** Where it stands, from the body down. */
  at: string[];
  good: unknown[];
  bad: unknown[];
  required?: true;
  /** Another field has no meaning without it. */
  kept?: true;
}

interface Form {
  name: string;
  /** After the API's name, or with it where it begins with a slash. */
  route: string;
  /** Sent as the part `data` of a form, beside a file. */
  multipart?: true;
  /** A body with every field. */
  body: Record<string, unknown>;
  fields: Field[];
  /** Status of a request that is well formed; its ids belong to nobody. */
  accepted: number;
  /** Property that holds the sentence of a 422 here. */
  sentence: 'detail' | 'message';
}

const flags = { good: [true, false], bad: [1, 'true'] };
const text = { good: ['', 'é 😀'], bad: [7, {}] };
const id: Pick<Field, 'good' | 'bad' | 'required'> = {
  good: [nobody, nobody.toUpperCase()],
  bad: ['', 'x', `${nobody}0`, 7, null],
  required: true,
};
const task = {
  good: ['classification', 'regression'],
  bad: ['clustering', '', null, 1],
  required: true as const,
};

/** S 2.6, at a place in the body. */
function configFields(at: string[]): Field[] {
  const field = (name: string, good: unknown[], bad: unknown[]): Field => ({ at: [...at, name], good, bad });
  return [
    { at, good: [{}], bad: [7, [], 'x'] },
    field('n_estimators', [1, 8, 10], [0, 1.5, '4']),
    field('categorical_features_indices', [[], [0, 2]], [[-1], ['a'], 3]),
    field('softmax_temperature', [0.9, 1], [0, -1, '1']),
    field('average_before_softmax', flags.good, flags.bad),
    field('random_state', [0, 7, -3], [1.5, '0']),
    field('inference_config', [{}, { SUBSAMPLE_SAMPLES: 100 }, { OTHER: null }], [7, 'x']),
    field('ignore_pretraining_limits', flags.good, flags.bad),
    field('n_preprocessing_jobs', [1, -1], ['1', 0.5]),
    field('inference_precision', ['auto', 'float32', 'float16', 'autocast'], [16]),
    field('fit_mode', ['fit_preprocessors'], [1]),
    field('device', ['auto', ['cpu'], []], [1, [1]]),
    field('memory_saving_mode', flags.good, flags.bad),
    field('model_path', ['auto', 'v3.5_default', 'v3.5-fast_default'], [3.5]),
    field('balance_probabilities', flags.good, flags.bad),
  ];
}

const CONFIG = {
  n_estimators: 8,
  categorical_features_indices: null,
  softmax_temperature: 0.9,
  average_before_softmax: false,
  random_state: 0,
  inference_config: null,
  ignore_pretraining_limits: false,
  n_preprocessing_jobs: 1,
  inference_precision: 'auto',
  fit_mode: 'fit_preprocessors',
  device: ['cpu'],
  memory_saving_mode: false,
  model_path: 'auto',
  balance_probabilities: false,
};

/** S 2.1 in one of its namings, at a place in the body. */
function fileFields(naming: 'schema' | 'sample', name: string): Field[] {
  const rest: Field[] = [
    { at: [name], good: [], bad: [null, 'x.csv', []], required: true },
    { at: [name, 'size_bytes'], good: [0, 12], bad: [-1, 1.5, '12'] },
    { at: [name, 'use_chunks'], ...flags },
  ];
  const hash = { good: ['4waSgw==', 'any text', ''], bad: [7, {}] };
  if (naming === 'schema') {
    return [
      { at: [name, 'format'], good: ['csv', 'parquet'], bad: ['CSV', 'xlsx', '', null], required: true },
      { at: [name, 'hash'], ...hash },
      ...rest,
    ];
  }
  return [
    {
      at: [name, 'filename'],
      good: ['x.csv', 'a b.parquet', 'X.CSV', 'x.Parquet'],
      bad: ['x', 'x.xlsx', null],
      required: true,
    },
    { at: [name, 'content_hash'], ...hash },
    ...rest,
  ];
}

function fileInfo(naming: 'schema' | 'sample', size_bytes: number): Record<string, unknown> {
  return naming === 'schema'
    ? { format: 'csv', hash: null, size_bytes, use_chunks: false }
    : { filename: 'x.csv', content_hash: 'any text', size_bytes, use_chunks: false };
}

function uploadForms(naming: 'schema' | 'sample'): Form[] {
  return [
    {
      name: `train upload in the naming of the ${naming}`,
      route: 'prepare_train_set_upload',
      accepted: 200,
      sentence: 'detail',
      body: {
        x_train_info: fileInfo(naming, 12),
        y_train_info: fileInfo(naming, 7),
        description: 'x',
        force_reupload: false,
      },
      fields: [
        ...fileFields(naming, 'x_train_info'),
        ...fileFields(naming, 'y_train_info'),
        { at: ['description'], good: text.good, bad: text.bad },
        { at: ['force_reupload'], ...flags },
      ],
    },
    {
      name: `test upload in the naming of the ${naming}`,
      route: 'prepare_test_set_upload',
      accepted: 404,
      sentence: 'message',
      body: { fitted_train_set_id: nobody, x_test_info: fileInfo(naming, 12), force_reupload: false },
      fields: [
        ...fileFields(naming, 'x_test_info'),
        { at: ['fitted_train_set_id'], ...id },
        { at: ['force_reupload'], ...flags },
      ],
    },
  ];
}

function jsonForms(api: string): Form[] {
  const systems: Field = {
    at: [`${api}_systems`],
    good: [[], ['preprocessing', 'text', 'thinking'], ['magic']],
    bad: [[3], 'text'],
  };
  const effort = { good: ['medium', 'high'], bad: ['low', '', 1] };
  const seconds = { good: [1, 0.5, 3600], bad: [0, -1, '60'] };
  const metric = { good: ['log_loss', 'rmse'], bad: [1] };
  const ids = { test_set_upload_id: nobody, fitted_train_set_id: nobody };
  const config = [`${api}_config`];
  const nested = ['task_config', ...config];
  const params = ['task_config', 'predict_params'];
  const common = { accepted: 404, sentence: 'message' as const };
  return [
    {
      ...common,
      name: 'fit in shape A',
      route: 'fit',
      body: {
        train_set_upload_id: nobody,
        task: 'classification',
        [`${api}_systems`]: ['preprocessing', 'text'],
        [config[0]!]: CONFIG,
        thinking_effort: 'medium',
        thinking_timeout_s: 60,
        thinking_effort_metric: 'log_loss',
        force_refit: false,
        async_mode: false,
      },
      fields: [
        { at: ['train_set_upload_id'], ...id },
        { at: ['task'], ...task },
        systems,
        ...configFields(config),
        { at: ['thinking_effort'], ...effort },
        { at: ['thinking_timeout_s'], ...seconds },
        { at: ['thinking_effort_metric'], ...metric },
        { at: ['force_refit'], ...flags },
        { at: ['async_mode'], ...flags },
      ],
    },
    {
      ...common,
      name: 'fit in shape B',
      route: 'fit',
      body: {
        train_set_upload_id: nobody,
        task_config: { task: 'classification', [config[0]!]: CONFIG },
        [`${api}_systems`]: ['preprocessing', 'text'],
        thinking_config: { effort: 'medium', timeout_secs: 60, metric: 'log_loss' },
        force_refit: false,
        async_mode: false,
      },
      fields: [
        { at: ['train_set_upload_id'], ...id },
        { at: ['task_config'], good: [{ task: 'regression' }], bad: ['regression', []] },
        { at: ['task_config', 'task'], ...task },
        systems,
        ...configFields(nested),
        { at: ['thinking_config'], good: [{}], bad: ['high'] },
        { at: ['thinking_config', 'effort'], ...effort },
        { at: ['thinking_config', 'timeout_secs'], ...seconds },
        { at: ['thinking_config', 'metric'], ...metric },
        { at: ['force_refit'], ...flags },
        { at: ['async_mode'], ...flags },
      ],
    },
    {
      ...common,
      name: 'predict of a classification',
      route: 'predict',
      body: {
        ...ids,
        task_config: {
          task: 'classification',
          [config[0]!]: CONFIG,
          predict_params: { output_type: 'probas' },
        },
        force_refit: false,
      },
      fields: [
        { at: ['test_set_upload_id'], ...id },
        { at: ['fitted_train_set_id'], ...id },
        { at: ['task_config'], good: [], bad: [null, 'classification', []], required: true },
        { at: ['task_config', 'task'], good: ['classification'], bad: task.bad, required: true },
        ...configFields(nested),
        { at: params, good: [{}], bad: ['preds'] },
        {
          at: [...params, 'output_type'],
          good: ['probas', 'preds'],
          bad: ['mean', 'full', 'quantiles', '', 1],
        },
        { at: ['force_refit'], ...flags },
      ],
    },
    {
      ...common,
      name: 'predict of a regression',
      route: 'predict',
      body: {
        ...ids,
        task_config: {
          task: 'regression',
          predict_params: { output_type: 'quantiles', quantiles: [0.1, 0.9] },
        },
      },
      fields: [
        {
          at: [...params, 'output_type'],
          good: ['quantiles', 'main', 'full', 'mean'],
          bad: ['probas', 'preds', 'var'],
          kept: true,
        },
        {
          at: [...params, 'quantiles'],
          good: [[0.5], [0.001, 0.999]],
          bad: [[], [0], [1], [-0.1], ['0.5'], 0.5],
        },
      ],
    },
    ...['mean', 'median', 'mode', 'main', 'full'].map((output_type): Form => ({
      ...common,
      name: `predict of a regression's ${output_type}`,
      route: 'predict',
      body: { ...ids, task_config: { task: 'regression', predict_params: { output_type } } },
      fields: [{ at: [...params, 'quantiles'], good: [[0.5]], bad: [[], [1]] }],
    })),
    {
      name: 'estimate of a cost',
      route: 'estimate_cost',
      accepted: 200,
      sentence: 'message',
      body: {
        model_version: 'v3.5',
        operation: 'predict',
        train_rows: 100,
        test_rows: 10,
        raw_columns: 5,
        n_estimators: 8,
      },
      fields: [
        { at: ['model_version'], good: ['v2', 'any'], bad: [3.5] },
        { at: ['operation'], good: ['predict', 'fit'], bad: ['', 1] },
        { at: ['train_rows'], good: [0, 1e6], bad: [-1, 1.5, '1'] },
        { at: ['test_rows'], good: [0, 1e6], bad: [-1, 1.5, '1'] },
        { at: ['raw_columns'], good: [0, 2000], bad: [-1, 1.5, '1'] },
        { at: ['n_estimators'], good: [1, 10], bad: [0, 1.5, '1'] },
      ],
    },
  ];
}

/** S 4.7 */
const LEGACY: Form = {
  name: 'the deprecated predict',
  route: '/v1/predict',
  multipart: true,
  accepted: 404,
  sentence: 'message',
  body: {
    model_id: nobody,
    task: 'classification',
    systems: ['preprocessing', 'text'],
    n_estimators: 4,
    model_path: 'auto',
    categorical_features_indices: [0],
    softmax_temperature: 0.9,
    average_before_softmax: false,
    ignore_pretraining_limits: false,
    inference_precision: 'auto',
    random_state: 0,
    balance_probabilities: false,
    output_type: 'probas',
  },
  fields: [
    { at: ['model_id'], good: ['any text'], bad: ['', 7, null], required: true },
    { at: ['task'], good: ['classification'], bad: ['clustering', null], required: true },
    { at: ['systems'], good: [[], ['text']], bad: ['text', [1]] },
    { at: ['n_estimators'], good: [1, 10], bad: [0, 11, 1.5, '4'] },
    { at: ['model_path'], good: ['x'], bad: [1] },
    { at: ['categorical_features_indices'], good: [[], [3]], bad: [[-1], 3] },
    { at: ['softmax_temperature'], good: [0.5], bad: [0, '1'] },
    { at: ['average_before_softmax'], ...flags },
    { at: ['ignore_pretraining_limits'], ...flags },
    { at: ['inference_precision'], good: ['float32', 'float16', 'auto', 'autocast'], bad: [16] },
    { at: ['random_state'], good: [7], bad: [0.5] },
    { at: ['balance_probabilities'], ...flags },
    { at: ['output_type'], good: ['probas', 'preds'], bad: ['mean', 'full', 'median', 1] },
  ],
};

async function postForm(h: Harness, route: string, data: unknown): Promise<Answer> {
  const body = new FormData();
  body.set('data', new Blob([JSON.stringify(data)], { type: 'application/json' }));
  body.set('file', new Blob(['a\n1\n'], { type: 'text/csv' }), 'rows.csv');
  return answerOf(await fetch(h.url(route), { method: 'POST', headers: h.bearer(), body }));
}

/** The body with one property set, or without it where the value is undefined: JSON has no such value. */
function withValue(body: Record<string, unknown>, at: string[], value: unknown): Record<string, unknown> {
  const [name, ...rest] = at as [string, ...string[]];
  const inner = rest.length > 0 ? withValue(body[name] as Record<string, unknown>, rest, value) : value;
  return { ...body, [name]: inner };
}

/** Every object in a body that takes only known properties. */
function objectsOf(body: Record<string, unknown>, at: string[] = []): string[][] {
  const inner = Object.entries(body).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && name !== 'inference_config'
      ? objectsOf(value as Record<string, unknown>, [...at, name])
      : [],
  );
  return [at, ...inner];
}

describe('Service: every field of every request', () => {
  let h: Harness;
  before(async () => {
    h = await sharedService();
  });

  for (const api of ['svc', 'acme-2']) {
    const forms = [...jsonForms(api), ...uploadForms('schema'), ...uploadForms('sample')];
    if (api === 'svc') {
      forms.push(LEGACY);
    }
    for (const form of forms) {
      const { route, body, fields, accepted, sentence } = form;
      const post = (sent: unknown): Promise<Answer> =>
        form.multipart === true
          ? postForm(h, route, sent)
          : h.post(route.startsWith('/') ? route : `/${api}/${route}`, sent);
      const refused = async (sent: Record<string, unknown>, at: string[]): Promise<void> => {
        const answer = await post(sent);
        assert.equal(answer.status, 422, JSON.stringify(sent));
        const said = String(answer.body[sentence]);
        assert.ok(said.includes(at.join('.')), `${said} names ${at.join('.')}`);
      };

      it(`/${api}: ${form.name}`, async () => {
        assert.equal((await post(body)).status, accepted, 'the whole body');
        for (const { at, good, bad, required, kept } of fields) {
          for (const value of good) {
            const answer = await post(withValue(body, at, value));
            assert.equal(
              answer.status,
              accepted,
              `${at.join('.')} = ${JSON.stringify(value)}: ${answer.text}`,
            );
          }
          for (const value of bad) {
            await refused(withValue(body, at, value), at);
          }
          for (const absent of [undefined, null]) {
            const without = withValue(body, at, absent);
            if (required === true) {
              await refused(without, at);
            } else if (at.join() !== 'task_config' && kept !== true) {
              assert.equal((await post(without)).status, accepted, `${at.join('.')} = ${absent}`);
            }
          }
        }
        for (const at of objectsOf(body)) {
          const beside = withValue(body, [...at, 'colour'], 1);
          if (at[0]?.endsWith('_info') === true) {
            await refused(beside, [...at, 'colour']);
          } else {
            assert.equal((await post(beside)).status, accepted, `${at.join('.')}.colour`);
          }
        }
      });
    }
  }

  it('has no field of the specification without a line here', () => {
    for (const form of [...jsonForms('svc'), ...uploadForms('schema'), ...uploadForms('sample'), LEGACY]) {
      if (form.route === 'predict' && form.name !== 'predict of a classification') {
        continue;
      }
      const walked = new Set(form.fields.map(({ at }) => at.join('.')));
      const names = objectsOf(form.body).flatMap((at) => {
        const inner = at.reduce((value, name) => value[name] as Record<string, unknown>, form.body);
        return Object.keys(inner).map((name) => [...at, name].join('.'));
      });
      assert.deepEqual(
        names.filter((name) => !walked.has(name)),
        [],
        form.name,
      );
    }
  });
});
