import type { OutputType } from '../../../wire/vocabulary';
import type { ServiceLimits } from '../../limits';
import { invalid } from '../../refusal';

interface Asked {
  outputType: OutputType;
  quantiles: readonly number[];
  /** 0 for regression. */
  classes: number;
  rows: number;
}

/** Outputs with quantiles in them. */
const WITH_QUANTILES = new Set<OutputType>(['quantiles', 'full', 'main']);

/** Bounds the size of an answer before it is computed. @throws Refusal 422 `LIMIT_EXCEEDED` */
export function assertAnswerSize(
  { outputType, quantiles, classes, rows }: Asked,
  { max_quantiles, prediction_max_cells }: ServiceLimits,
): void {
  const levels = WITH_QUANTILES.has(outputType) ? quantiles.length : 0;
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
