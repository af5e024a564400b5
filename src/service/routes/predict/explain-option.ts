import { isObject } from '../../../util/values';
import type { ModelConfig } from '../../../wire/types';
import { invalid } from '../../refusal';
import type { ModelEntry } from '../../store/entries/entries';
import type { ExplainJob } from '../../work/jobs';

const OPTION = 'inference_config.EXPLAIN';
const KEYS = ['GROUPS', 'LABEL', 'ABOVE'];

/** The configuration of a predict without what it says about explanations. */
export interface SplitConfig {
  config: ModelConfig;
  explain?: ExplainJob;
}

/**
 * Takes `EXPLAIN` out of `inference_config`: `true`, or an object of `GROUPS` (columns that are one cause together, by
 * the cause's name), `LABEL` (the class to explain) and `ABOVE` (only rows whose prediction is above it).
 *
 * @throws Refusal 422 where it is anything else
 */
export function takeExplain(sent: ModelConfig, model: ModelEntry): SplitConfig {
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
