import type { ClassificationResult, RegressionResult } from '../../../learner';
import type { OutputType } from '../../../wire/types';
import { invalid } from '../../refusal';

/** Text longer than this is turned into bytes before more is added: no string grows beyond what V8 can hold. */
const FLUSH_LENGTH = 1 << 20;

/**
 * The value of `prediction` (S 4.4, shapes as docs/architecture.md settles them) as JSON in UTF-8. Numbers that
 * JSON has no word for (the −∞ among logits) become null.
 *
 * @param quantiles levels for `quantiles` and `full`
 */
export function predictionJson(
  result: ClassificationResult | RegressionResult,
  outputType: OutputType,
  quantiles: readonly number[],
): Uint8Array<ArrayBuffer> {
  const out = new JsonWriter();
  if (result.task === 'classification') {
    writeClassification(out, result, outputType);
  } else {
    writeRegression(out, result, outputType, [...quantiles]);
  }
  return out.finish();
}

function writeClassification(out: JsonWriter, result: ClassificationResult, outputType: OutputType): void {
  const { classes, probas, rows } = result;
  if (outputType === 'preds') {
    const labels = classes.map((label) => JSON.stringify(label));
    out.list(rows, (row) => out.add(labels[indexOfMax(probas, row * classes.length, classes.length)]!));
  } else if (outputType === 'probas') {
    out.matrix(probas, rows, classes.length);
  } else {
    throw wrongOutput(outputType, 'classification');
  }
}

function writeRegression(
  out: JsonWriter,
  result: RegressionResult,
  outputType: OutputType,
  levels: number[],
): void {
  switch (outputType) {
    case 'mean':
    case 'median':
    case 'mode':
      out.numbers(result[outputType]());
      return;
    case 'quantiles':
      writeQuantiles(out, result.quantiles(levels));
      return;
    case 'full': {
      out.add('{"mean":');
      out.numbers(result.mean());
      out.add(',"median":');
      out.numbers(result.median());
      out.add(',"mode":');
      out.numbers(result.mode());
      out.add(',"quantiles":');
      writeQuantiles(out, result.quantiles(levels));
      const { borders, logits } = result.full();
      out.add(',"borders":');
      out.numbers(borders);
      out.add(',"logits":');
      out.matrix(logits, result.rows, borders.length - 1);
      out.add('}');
      return;
    }
    default:
      throw wrongOutput(outputType, 'regression');
  }
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

function wrongOutput(outputType: string, task: string): Error {
  return invalid(`output_type ${outputType} is not one of the task ${task}.`);
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
      text += (i > from ? ',' : '') + (Number.isFinite(value) ? String(value) : 'null');
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
