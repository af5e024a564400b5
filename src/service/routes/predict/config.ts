import type { PredictOptions } from '../../../learner';
import type { ModelConfig } from '../../../wire/types';
import type { ModelEntry } from '../../store/entries/entries';
import { MODEL_VERSION } from '../../version';
import { canonical } from '../../work/fit/canonical';
import type { ExplainJob } from '../../work/jobs';
import { takeExplain } from './explain-option';

/** What a prediction's configuration comes to. */
export interface Applied {
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
