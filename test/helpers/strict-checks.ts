/* The specification's rules on request bodies (S 2 and 4), as plain functions: what is wrong, or nothing. */

type Body = Record<string, unknown>;

export interface StrictShapes {
  apiName: string;
  fitRequest: 'task_config' | 'flat' | 'any';
  fileInfo: 'schema' | 'sample' | 'any';
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const TASKS = ['classification', 'regression'];
const OUTPUTS: Record<string, string[]> = {
  classification: ['probas', 'preds'],
  regression: ['mean', 'median', 'mode', 'quantiles', 'main', 'full'],
};

type Rule = (value: unknown) => string | undefined;

const is =
  (what: string, test: (value: unknown) => boolean): Rule =>
  (value) =>
    test(value) ? undefined : `must be ${what}`;

const uuid = is('a UUID', (v) => typeof v === 'string' && UUID.test(v));
const bool = is('a boolean', (v) => typeof v === 'boolean');
const text = is('a string', (v) => typeof v === 'string');
const textOrNull = is('a string or null', (v) => v === null || typeof v === 'string');
const count = is('an integer from 0', (v) => Number.isInteger(v) && (v as number) >= 0);
const positive = is('a number above 0', (v) => typeof v === 'number' && v > 0);
const integer = is('an integer', (v) => Number.isInteger(v));
const number = is('a number', (v) => typeof v === 'number');
const oneOf = (names: string[]) => is(`one of ${names.join(', ')}`, (v) => names.includes(v as string));
const listOf = (rule: Rule, what: string) =>
  is(`an array of ${what}`, (v) => Array.isArray(v) && v.every((item) => rule(item) === undefined));
const orNull =
  (rule: Rule): Rule =>
  (v) =>
    v === null ? undefined : rule(v);

function fields(
  value: unknown,
  required: Record<string, Rule>,
  optional: Record<string, Rule>,
  at = '',
): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [`${at || 'body'} must be an object`];
  }
  const rules = { ...required, ...optional };
  const wrong: string[] = [];
  for (const name of Object.keys(required)) {
    if (!Object.hasOwn(value, name)) {
      wrong.push(`${at}${name} is required`);
    }
  }
  for (const [name, item] of Object.entries(value)) {
    if (!Object.hasOwn(rules, name)) {
      wrong.push(`${at}${name} is an unknown property`);
      continue;
    }
    const fault = rules[name]!(item);
    if (fault !== undefined) {
      wrong.push(`${at}${name} ${fault}`);
    }
  }
  return wrong;
}

const nested =
  (required: Record<string, Rule>, optional: Record<string, Rule>): Rule =>
  (value) =>
    fields(value, required, optional)[0]?.replace(/^/, 'is wrong: ');

/** 2.6 */
const config = nested(
  {},
  {
    n_estimators: integer,
    categorical_features_indices: orNull(listOf(count, 'integers')),
    softmax_temperature: number,
    average_before_softmax: bool,
    random_state: integer,
    inference_config: orNull(is('an object', (v) => typeof v === 'object')),
    ignore_pretraining_limits: bool,
    n_preprocessing_jobs: integer,
    inference_precision: oneOf(['auto', 'float32', 'float16']),
    fit_mode: text,
    device: listOf(text, 'strings'),
    memory_saving_mode: bool,
    model_path: text,
    balance_probabilities: bool,
    text_handling: oneOf(['simple', 'advanced']),
  },
);

const HASH = is('4 bytes in base64', (v) => typeof v === 'string' && /^[A-Za-z0-9+/]{6}==$/.test(v));

/** 2.1 */
function fileInfo(shapes: StrictShapes): Rule {
  const common = { size_bytes: orNull(count), use_chunks: bool };
  const schema = nested({ format: oneOf(['csv', 'parquet']) }, { hash: orNull(HASH), ...common });
  const sample = nested({ filename: text }, { content_hash: orNull(HASH), ...common });
  if (shapes.fileInfo !== 'any') {
    return shapes.fileInfo === 'schema' ? schema : sample;
  }
  return (v) => (typeof v === 'object' && v !== null && 'filename' in v ? sample(v) : schema(v));
}

/** 4.1 */
export function checkTrainUpload(body: unknown, shapes: StrictShapes): string[] {
  const info = fileInfo(shapes);
  return fields(
    body,
    { x_train_info: info, y_train_info: info },
    { description: textOrNull, force_reupload: bool },
  );
}

/** 4.2 */
export function checkTestUpload(body: unknown, shapes: StrictShapes): string[] {
  return fields(body, { fitted_train_set_id: uuid, x_test_info: fileInfo(shapes) }, {});
}

/** 4.3 */
export function checkFit(body: unknown, shapes: StrictShapes): string[] {
  const api = shapes.apiName;
  const systems = { [`${api}_systems`]: listOf(oneOf(['preprocessing', 'text', 'thinking']), 'systems') };
  const effort = oneOf(['medium', 'high']);
  const nestedShape =
    shapes.fitRequest === 'any'
      ? typeof body === 'object' && body !== null && 'task_config' in body
      : shapes.fitRequest === 'task_config';
  if (nestedShape) {
    return fields(
      body,
      {
        train_set_upload_id: uuid,
        task_config: nested({ task: oneOf(TASKS) }, { [`${api}_config`]: config }),
      },
      {
        ...systems,
        thinking_config: thinkingConfig(effort),
        force_refit: bool,
      },
    );
  }
  return fields(
    body,
    { train_set_upload_id: uuid, task: oneOf(TASKS) },
    {
      ...systems,
      [`${api}_config`]: config,
      thinking_effort: effort,
      thinking_timeout_s: positive,
      thinking_effort_metric: text,
      force_refit: bool,
    },
  );
}

/** Beside what the specification lists: by which columns folds are drawn, a group or the time of all rows. */
const thinkingConfig =
  (effort: Rule): Rule =>
  (value) => {
    const { group_col: group, time_col: time, group_time_col: groupTime } = (value ?? {}) as Body;
    const columns = {
      group_col: is('a column or a list of them', (v) => [v].flat().every((one) => typeof one === 'string')),
      time_col: text,
      group_time_col: text,
    };
    const wrong = nested({}, { effort, timeout_secs: positive, metric: text, ...columns })(value);
    if (group !== undefined && time !== undefined) {
      return 'has both group_col and time_col';
    }
    return groupTime !== undefined && group === undefined ? 'has group_time_col without group_col' : wrong;
  };

/** The body of `submit_fit_job`: shape B, which has no `force_refit`. */
export function checkSubmit(body: unknown, shapes: StrictShapes): string[] {
  const forced = typeof body === 'object' && body !== null && 'force_refit' in body;
  return [
    ...checkFit(body, { ...shapes, fitRequest: 'task_config' }),
    ...(forced ? ['force_refit is an unknown property'] : []),
  ];
}

/** The body of `get_fit_status`. */
export function checkFitStatus(body: unknown): string[] {
  return fields(body, { fitted_train_set_id: uuid }, {});
}

/** 4.4 */
export function checkPredict(body: unknown, shapes: StrictShapes): string[] {
  const levels = listOf(
    is('a level', (v) => typeof v === 'number' && v > 0 && v < 1),
    'levels between 0 and 1',
  );
  const wrong = fields(
    body,
    {
      test_set_upload_id: uuid,
      fitted_train_set_id: uuid,
      task_config: nested(
        { task: oneOf(TASKS) },
        {
          [`${shapes.apiName}_config`]: config,
          predict_params: nested({}, { output_type: text, quantiles: levels }),
        },
      ),
    },
    { force_refit: bool },
  );
  if (wrong.length > 0) {
    return wrong;
  }
  const task = (body as Body).task_config as { task: string; predict_params?: Body };
  const { output_type: output, quantiles } = task.predict_params ?? {};
  if (output !== undefined && !OUTPUTS[task.task]!.includes(output as string)) {
    wrong.push(`output_type ${output as string} does not go with ${task.task}`);
  }
  if (quantiles !== undefined && output !== 'quantiles' && output !== 'main') {
    wrong.push('quantiles without output_type quantiles or main');
  }
  return wrong;
}

/** 4.6 */
export function checkEstimateCost(body: unknown): string[] {
  return fields(
    body,
    {},
    {
      operation: oneOf(['predict', 'cache_predict', 'thinking_fit', 'thinking_predict']),
      model_version: text,
      train_rows: count,
      test_rows: count,
      raw_columns: count,
      n_estimators: integer,
      thinking_effort: oneOf(['medium', 'high']),
    },
  );
}

/** The `data` part of 4.7. */
export function checkLegacy(body: unknown): string[] {
  return fields(
    body,
    { model_id: text, task: oneOf(TASKS) },
    {
      systems: listOf(text, 'strings'),
      n_estimators: is(
        'an integer 1-10',
        (v) => Number.isInteger(v) && (v as number) >= 1 && (v as number) <= 10,
      ),
      model_path: text,
      categorical_features_indices: listOf(count, 'integers'),
      softmax_temperature: number,
      average_before_softmax: bool,
      ignore_pretraining_limits: bool,
      inference_precision: oneOf(['float32', 'float16', 'auto']),
      random_state: integer,
      balance_probabilities: bool,
      output_type: oneOf(['probas', 'preds', 'mean', 'full']),
    },
  );
}
