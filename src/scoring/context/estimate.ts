import type { EstimateCostRequest, ModelLimits } from '../../wire/types';
import { versionOf } from './limits';

/** What is asked to estimate a predict. */
export function predictToEstimate(
  limits: ModelLimits,
  { columns, options }: { columns: readonly unknown[]; options: Record<string, unknown> },
  rows: { train: number; test: number },
): EstimateCostRequest {
  const { n_estimators: estimators } = options;
  return {
    operation: 'predict',
    model_version: versionOf(limits, options),
    train_rows: rows.train,
    test_rows: rows.test,
    raw_columns: columns.length,
    ...(typeof estimators === 'number' && { n_estimators: estimators }),
  };
}
