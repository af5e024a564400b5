import path from 'node:path';

import type { PredictOptions } from '../../learner';
import { bare, isObject, stringifyBare } from '../../util/values';
import type { ModelConfig, PredictMetadata } from '../../wire/types';
import type { Label } from '../../wire/vocabulary';
import { invalid, notFound, Refusal } from '../refusal';
import type { FileRef, ModelEntry } from '../store/entries';
import { MODEL_FILE } from '../store/store';
import { MODEL_VERSION, PACKAGE_VERSION } from '../version';
import { canonical } from '../work/fit-request';
import type { ExplainJob, PredictJob, ScoredFile } from '../work/jobs';
import { readPatience } from '../work/pool-thread';
import { missingModel, type ServiceContext } from './context';

/* What every route that predicts does. */

/** The model, if it is there and of this task. @throws Refusal 404, 422 */
export function modelFor(context: ServiceContext, id: string, task: ModelEntry['task']): ModelEntry {
  const found = context.store.models.use(id.toLowerCase());
  if (found === undefined) {
    throw missingModel(context.store, id.toLowerCase());
  }
  const { entry } = found;
  if (entry.task !== task) {
    throw invalid(`The fitted train set ${id} was fitted for ${entry.task}, not for ${task}.`);
  }
  return entry;
}

/** Scores a file on a predict thread. A model that turns out to be damaged is set aside. @throws Refusal */
export async function score(
  context: ServiceContext,
  model: ModelEntry,
  asked: Pick<PredictJob, 'x' | 'outputType' | 'quantiles' | 'options' | 'explain'> & {
    signal?: AbortSignal;
  },
): Promise<ScoredFile> {
  const { signal, ...what } = asked;
  const { store, predictPool, limits, metrics } = context;
  const item = store.models.use(model.id);
  if (item === undefined) {
    throw missingModel(store, model.id);
  }
  const ref = { id: model.id, file: path.join(item.folder, MODEL_FILE), bytes: model.bytes, crc: model.crc };
  const { features, longClasses } = model;
  const job: PredictJob = { kind: 'predict', model: ref, features, longClasses, limits, ...what };
  item.pins += 1;
  try {
    const scored = await predictPool.run<ScoredFile>(job, {
      key: model.id,
      patienceMs: readPatience(model.bytes + countBytes(what.x)),
      ...(signal === undefined ? {} : { signal }),
    });
    metrics.countPredictedRows(scored.rows);
    return scored;
  } catch (error) {
    store.models.restore();
    if (store.models.isLost(model.id)) {
      throw missingModel(store, model.id);
    }
    if (error instanceof Refusal && error.body.errorCode === 'MODEL_DAMAGED') {
      await store.models.setAside(model.id, item.folder, error.message);
      throw notFound(error.message);
    }
    throw error;
  } finally {
    item.pins -= 1;
  }
}

function countBytes(x: FileRef): number {
  return x.data === undefined ? (x.bytes ?? 0) : x.data.length;
}

/** Aborted when the client disconnects before it has its answer. */
export function abortedWith(res: {
  on(event: 'close', listener: () => void): unknown;
  writableFinished: boolean;
}): AbortSignal {
  const controller = new AbortController();
  res.on('close', () => {
    if (!res.writableFinished) {
      controller.abort();
    }
  });
  return controller.signal;
}

/** S 2.7 */
export function makeMetadata(model: ModelEntry, applied: Applied, outcome: ScoredFile): PredictMetadata {
  return {
    test_set_num_rows: outcome.rows,
    test_set_num_cols: outcome.columns,
    package_version: PACKAGE_VERSION,
    svc_config: applied.config,
    task: model.task,
    ...(model.classes === undefined ? {} : { classes: readLabels(model, model.classes) }),
    ignored_options: applied.ignored,
    ignored_columns: outcome.extra,
    ...(outcome.explanation && { explanation: outcome.explanation }),
  };
}

/** Labels as they should be in JSON: integers beyond 2^53 as numbers too, which other parsers read exactly. */
function readLabels({ longClasses }: ModelEntry, classes: readonly Label[]): Label[] {
  return longClasses === true ? classes.map((label) => bare(String(label))) : [...classes];
}

/** `{"prediction": <json>, "metadata": …, …rest}` without parsing the prediction again. */
export function joinJson(prediction: Uint8Array, metadata: object, rest: object = {}): Uint8Array {
  const tail = stringifyBare({ metadata, ...rest });
  return Buffer.concat([Buffer.from('{"prediction":'), prediction, Buffer.from(`,${tail.slice(1)}`)]);
}

/** What a prediction's configuration comes to. */
interface Applied {
  options: PredictOptions;
  /** The configuration used (S 2.7). */
  config: ModelConfig;
  /** Options of the fit or of this prediction that had no effect. */
  ignored: string[];
  /** Where causes are asked for. */
  explain?: ExplainJob;
}

/**
 * The configuration that came with a prediction over the one of the fit (S 2.6). A prediction can still choose
 * the softmax temperature, where to average, whether to balance, and a smaller ensemble; the rest is settled when
 * trees have grown. What it asks to be explained stands apart.
 *
 * @param ignored what else of the request had no effect
 */
export function applyConfig(
  model: ModelEntry,
  sent: ModelConfig = {},
  ignored: readonly string[] = [],
): Applied {
  const fitted = fittedConfig(model);
  const applied: Applied = { options: {}, config: fitted, ignored: [...model.ignoredOptions, ...ignored] };
  const { config, explain } = takeExplain(sent, model);
  if (explain !== undefined) {
    applied.explain = explain;
  }
  for (const [name, value] of Object.entries(config)) {
    if (name === 'model_path' || same(value, fitted[name]) || same(value, model.config[name])) {
      continue;
    }
    const options = optionsFor(model, name, value);
    if (options === undefined) {
      applied.ignored.push(name);
    } else {
      Object.assign(applied.options, options);
      applied.config = { ...applied.config, [name]: value };
    }
  }
  applied.ignored = [...new Set(applied.ignored)].sort();
  return applied;
}

/** An option that the fit was given says nothing new, however the learner has read it. */
function same(a: unknown, b: unknown): boolean {
  return b !== undefined && canonical(a) === canonical(b);
}

function optionsFor(model: ModelEntry, name: string, value: unknown): PredictOptions | undefined {
  if (name === 'n_estimators') {
    const grown = Number(model.usedOptions.n_estimators);
    return Number(value) <= grown ? { estimators: Number(value) } : undefined;
  }
  if (model.task !== 'classification') {
    return undefined;
  }
  switch (name) {
    case 'softmax_temperature':
      return { temperature: Number(value) };
    case 'average_before_softmax':
      return { averageScores: value === true };
    case 'balance_probabilities':
      return { balance: value === true };
    default:
      return undefined;
  }
}

/** What the model was fitted with: the learner's own values where the request said nothing it could use. */
function fittedConfig(model: ModelEntry): ModelConfig {
  const own: ModelConfig = {
    n_estimators: 8,
    categorical_features_indices: null,
    softmax_temperature: 1,
    average_before_softmax: false,
    random_state: 0,
    inference_config: null,
    ignore_pretraining_limits: false,
    n_preprocessing_jobs: 1,
    inference_precision: 'auto',
    fit_mode: 'fit_preprocessors',
    device: ['cpu'],
    memory_saving_mode: false,
    model_path: MODEL_VERSION,
    ...(model.task === 'classification' ? { balance_probabilities: false } : {}),
  };
  const used = Object.entries(model.usedOptions).filter(([name]) => name in own);
  return { ...own, ...Object.fromEntries(used) };
}

const OPTION = 'inference_config.EXPLAIN';
const KEYS = ['GROUPS', 'LABEL', 'ABOVE'];

/** The configuration of a predict without what it says about explanations. */
interface SplitConfig {
  config: ModelConfig;
  explain?: ExplainJob;
}

/**
 * Takes `EXPLAIN` out of `inference_config`: `true`, or an object of `GROUPS` (columns that are one cause together, by
 * the cause's name), `LABEL` (the class to explain) and `ABOVE` (only rows whose prediction is above it).
 *
 * @throws Refusal 422 where it is anything else
 */
function takeExplain(sent: ModelConfig, model: ModelEntry): SplitConfig {
  const { inference_config: inner, ...others } = sent;
  const name = isObject(inner)
    ? Object.keys(inner).find((key) => key.toUpperCase() === 'EXPLAIN')
    : undefined;
  if (!isObject(inner) || name === undefined) {
    return { config: sent };
  }
  const { [name]: asked, ...rest } = inner;
  const config = Object.keys(rest).length === 0 ? others : { ...others, inference_config: rest };
  if (asked === false || asked === null) {
    return { config };
  }
  if (asked !== true && !isObject(asked)) {
    throw invalid(`${OPTION} is true, false or an object of ${KEYS.join(', ')}.`);
  }
  return { config, explain: asked === true ? {} : readExplain(asked, model) };
}

function readExplain(asked: Record<string, unknown>, model: ModelEntry): ExplainJob {
  const byKey = new Map(Object.entries(asked).map(([key, value]) => [key.toUpperCase(), value]));
  const stray = [...byKey.keys()].find((key) => !KEYS.includes(key));
  if (stray !== undefined) {
    throw invalid(`${OPTION} has the key ${stray}; it knows ${KEYS.join(', ')}.`);
  }
  const job: ExplainJob = {};
  const [groups, label, above] = KEYS.map((key) => byKey.get(key) ?? undefined);
  if (groups !== undefined) {
    if (!isGroups(groups)) {
      throw invalid(`${OPTION}.GROUPS is an object with a list of column names for each cause.`);
    }
    job.groups = groups;
  }
  if (label !== undefined) {
    // Whole numbers beyond 2^53 are held as text.
    const wanted = typeof label === 'string' ? label : JSON.stringify(label);
    job.of = (model.classes ?? []).findIndex((one) => String(one) === wanted);
    if (job.of < 0) {
      throw invalid(`${OPTION}.LABEL is not a class of the model: ${wanted}.`);
    }
  }
  if (above !== undefined) {
    if (typeof above !== 'number') {
      throw invalid(`${OPTION}.ABOVE is a number.`);
    }
    job.above = above;
  }
  return job;
}

function isGroups(value: unknown): value is Record<string, string[]> {
  return (
    isObject(value) &&
    Object.values(value).every(
      (columns) => Array.isArray(columns) && columns.every((column) => typeof column === 'string'),
    )
  );
}
