import type { ClassificationResult, RegressionResult } from '../../learner';
import { explain } from '../../learner/explain/explain';
import type { Model } from '../../learner/model/model';
import type { predict, PredictOptions } from '../../learner/model/predict';
import type { FeatureColumn } from '../../learner/types';
import { hasQuantiles, type OutputOf, OUTPUTS, type OutputType } from '../../wire/vocabulary';
import type { ServiceLimits } from '../options';
import { invalid } from '../refusal';
import type { ExplainedRows, ExplainJob } from './jobs';

/**
 * The logarithm of a negligible probability (4e-44), in place of the −∞ of an empty bucket, which JSON cannot express:
 * readers that work with the whole distribution get numbers.
 */
const MIN_LOGIT = -100;

/** Longer text is encoded before more is added, so that no string exceeds V8's limit. */
const FLUSH_LENGTH = 1 << 20;

/**
 * The value of `prediction` (S 4.4, shapes as docs/architecture.md settles them) as JSON in UTF-8. Whole numbers are
 * written as `1.0`, so that a reader which tells integers from floats makes one type of a column. Logits are at least
 * `MIN_LOGIT`.
 *
 * @param quantiles levels for `quantiles`, `main` and `full`
 * @param longClasses labels are whole numbers, held as text: written as numbers
 */
export function predictionJson(
  result: ClassificationResult | RegressionResult,
  outputType: OutputType,
  quantiles: readonly number[],
  longClasses?: boolean,
): Uint8Array<ArrayBuffer> {
  const out = new JsonWriter();
  const { task } = result;
  if (OUTPUTS[outputType].task !== task) {
    throw invalid(`output_type ${outputType} is not one of the task ${task}.`);
  }
  if (result.task === 'classification') {
    CLASSIFICATION[outputType as OutputOf<'classification'>](out, result, longClasses === true);
  } else {
    REGRESSION[outputType as OutputOf<'regression'>](out, result, [...quantiles]);
  }
  return out.finish();
}

type WriteClassification = (out: JsonWriter, result: ClassificationResult, longClasses: boolean) => void;

/** How each output type of a classification is written. */
const CLASSIFICATION: Readonly<Record<OutputOf<'classification'>, WriteClassification>> = {
  probas: (out, { classes, probas, rows }) => out.matrix(probas, rows, classes.length),
  preds: (out, result, longClasses) => {
    const labels = result.classes.map((label) => (longClasses ? String(label) : JSON.stringify(label)));
    out.list(result.rows, (row) => out.add(labels[chooseAnswer(result, row)]!));
  },
};

/** The class of a row: by the threshold where one was given, else the most probable one. */
function chooseAnswer({ classes, probas, threshold }: ClassificationResult, row: number): number {
  if (threshold === undefined) {
    return indexOfMax(probas, row * classes.length, classes.length);
  }
  return probas[row * 2 + threshold.of]! >= threshold.at ? threshold.of : 1 - threshold.of;
}

type WriteRegression = (out: JsonWriter, result: RegressionResult, levels: number[]) => void;

/** How each output type of a regression is written. */
const REGRESSION: Readonly<Record<OutputOf<'regression'>, WriteRegression>> = {
  mean: (out, result) => out.numbers(result.mean()),
  median: (out, result) => out.numbers(result.median()),
  mode: (out, result) => out.numbers(result.mode()),
  quantiles: (out, result, levels) => writeQuantiles(out, result.quantiles(levels)),
  main: (out, result, levels) => {
    writeStatistics(out, result, levels);
    out.add('}');
  },
  full: (out, result, levels) => {
    writeStatistics(out, result, levels);
    const { borders, logits } = result.full();
    out.add(',"borders":');
    out.numbers(borders);
    out.add(',"logits":');
    out.matrix(
      logits.map((logit) => Math.max(logit, MIN_LOGIT)),
      result.rows,
      borders.length - 1,
    );
    out.add('}');
  },
};

/** `{"mean":…,"median":…,"mode":…,"quantiles":…`, without the brace at the end. */
function writeStatistics(out: JsonWriter, result: RegressionResult, levels: number[]): void {
  for (const name of ['mean', 'median', 'mode'] as const) {
    out.add(`${name === 'mean' ? '{' : ','}"${name}":`);
    out.numbers(result[name]());
  }
  out.add(',"quantiles":');
  writeQuantiles(out, result.quantiles(levels));
}

function writeQuantiles(out: JsonWriter, rows: Float64Array[]): void {
  out.list(rows.length, (at) => out.numbers(rows[at]!));
}

function indexOfMax(values: Float64Array, from: number, count: number): number {
  let best = 0;
  for (let i = 1; i < count; i++) {
    if (values[from + i]! > values[from + best]!) {
      best = i;
    }
  }
  return best;
}

/** A number as JSON, whole ones with `.0`; null where JSON cannot express it. */
function writeJson(value: number): string {
  if (!Number.isFinite(value)) {
    return 'null';
  }
  const text = String(value);
  return Number.isInteger(value) && !text.includes('e') ? `${text}.0` : text;
}

class JsonWriter {
  private text = '';
  private readonly done: Buffer[] = [];

  add(text: string): void {
    this.text += text;
    if (this.text.length > FLUSH_LENGTH) {
      this.flush();
    }
  }

  list(count: number, write: (at: number) => void): void {
    this.add('[');
    for (let at = 0; at < count; at++) {
      if (at > 0) {
        this.add(',');
      }
      write(at);
    }
    this.add(']');
  }

  numbers(values: Float64Array, from = 0, to = values.length): void {
    let text = '[';
    for (let i = from; i < to; i++) {
      const value = values[i]!;
      text += (i > from ? ',' : '') + writeJson(value);
    }
    this.add(`${text}]`);
  }

  /** `[row][column]` of values that lie row by row. */
  matrix(values: Float64Array, rows: number, columns: number): void {
    this.list(rows, (row) => this.numbers(values, row * columns, (row + 1) * columns));
  }

  finish(): Uint8Array<ArrayBuffer> {
    this.flush();
    const size = this.done.reduce((sum, part) => sum + part.length, 0);
    // A buffer of its own, not of the shared pool, so that it can be handed to another thread.
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const part of this.done) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }

  private flush(): void {
    this.done.push(Buffer.from(this.text));
    this.text = '';
  }
}

interface Asked {
  outputType: OutputType;
  quantiles: readonly number[];
  /** 0 for regression. */
  classes: number;
  rows: number;
}

/** Bounds the size of an answer before it is computed. @throws Refusal 422 `LIMIT_EXCEEDED` */
export function assertAnswerSize(
  { outputType, quantiles, classes, rows }: Asked,
  { max_quantiles, prediction_max_cells }: ServiceLimits,
): void {
  const levels = hasQuantiles(outputType) ? quantiles.length : 0;
  if (levels > max_quantiles) {
    throw invalid(
      `The request asks for ${levels} quantiles; this service takes at most ${max_quantiles}.`,
      'LIMIT_EXCEEDED',
    );
  }
  const width = Math.max(1, levels, outputType === 'probas' ? classes : 0);
  if (rows * width > prediction_max_cells) {
    throw invalid(
      `The answer would have ${rows * width} numbers (${rows} rows of ${width}); this service gives at most ` +
        `${prediction_max_cells}. Send at most ${Math.floor(prediction_max_cells / width)} rows at a time.`,
      'LIMIT_EXCEEDED',
    );
  }
}

/** Most that is explained for one request, so that it takes a predict thread seconds and the answer can be read. */
const MOST_ROWS = 2000;
const MOST_EFFECTS = 400_000;
/** Rows times nodes of the trees. */
const MOST_WORK = 1e8;

/** Why rows are predicted as they are; undefined where the model was fitted before it kept rows to compare with. */
export function writeExplanation(
  model: Model,
  columns: FeatureColumn[],
  result: ReturnType<typeof predict>,
  { options, asked }: { options: PredictOptions; asked: ExplainJob },
): ExplainedRows | undefined {
  const { background, features } = model;
  if (background === undefined) {
    return undefined;
  }
  const explained = explain(model, columns, result, { ...options, ...asked, most: mostRows(model) });
  const { groups, rows, left, of, predictions, bases, effects } = explained;
  const ofGroup = (values: Float64Array): (number | null)[] =>
    groups.map((group) => {
      const feature = features.findIndex(({ name, kind }) => name === group && kind === 'number');
      const value = feature < 0 ? NaN : values[feature]!;
      return Number.isFinite(value) ? value : null;
    });
  const [low, high] = [ofGroup(background.low), ofGroup(background.high)];
  return {
    groups,
    usual: low.map((value, i) => (value === null || high[i] === null ? null : [value, high[i]!])),
    means: ofGroup(background.mean),
    rows: Array.from(rows),
    left,
    ...(of && { classes: Array.from(of) }),
    predictions: Array.from(predictions),
    bases: Array.from(bases),
    effects: Array.from(rows, (_, i) =>
      Array.from(effects.subarray(i * groups.length, (i + 1) * groups.length)),
    ),
  };
}

function mostRows({ members, features }: Model): number {
  const parts = members.flatMap((member) => member.parts);
  const nodes = parts.reduce((sum, part) => sum + (part.kind === 'trees' ? part.trees.left.length : 1), 0);
  const most = Math.min(MOST_ROWS, MOST_EFFECTS / features.length, MOST_WORK / nodes);
  return Math.max(1, Math.floor(most));
}
