import {
  encodeBatches,
  encodeTrainSet,
  parquetBytes,
  profileTable,
  readBatches,
  type TableFile,
  type TableProfile,
  type TableSource,
} from '../table';
import type { ModelLimits } from '../wire/types';
import { limitSetOf, sizeExcess, testExcess, trainExcess, versionNamed } from './context/limits';
import { autoTask } from './train/doubts';
import { openInput } from './train/train-set';
import type { CheckLimitsRequest, LimitExceeded } from './types';

/** What of a table goes beyond the limits, were it sent as a train set or a test set. */
export async function checkLimits(
  limits: ModelLimits,
  request: CheckLimitsRequest,
  signal: AbortSignal | undefined,
): Promise<LimitExceeded[]> {
  const { target, ignore, modelVersion } = request;
  const source = await openInput(request.table, signal);
  const profile = await profileTable(source, { target, ignore, signal });
  const set = limitSetOf(limits, versionNamed(limits, modelVersion));
  const size = {
    rows: profile.rows,
    columns: profile.columns.length - (profile.target === undefined ? 0 : 1),
  };
  const test = request.set === 'test';
  const classes = autoTask(profile) === 'classification' ? (profile.target?.distinct ?? 0) : 0;
  const bytes = await largestFile(source, profile, test, limits.dataset_max_size_bytes, signal);
  return [
    ...(test ? testExcess(set, size) : trainExcess(set, { ...size, classes })),
    ...sizeExcess(limits, bytes),
  ];
}

/**
 * Bytes of the larger file that the table would be sent as. It is encoded for that only where it may be larger than
 * is allowed; else 0. A test set in a Parquet file counts as it is: so it goes up where its columns fit the model.
 */
async function largestFile(
  source: TableSource,
  profile: TableProfile,
  test: boolean,
  max: number | undefined,
  signal: AbortSignal | undefined,
): Promise<number> {
  const known = test ? parquetBytes(source) : undefined;
  if (known !== undefined || max === undefined || profile.bytes <= max) {
    return known ?? 0;
  }
  const files = await encoded(source, profile, test, signal);
  await Promise.all(files.map((file) => file.dispose()));
  return Math.max(...files.map((file) => file.bytes));
}

async function encoded(
  source: TableSource,
  profile: TableProfile,
  test: boolean,
  signal: AbortSignal | undefined,
): Promise<TableFile[]> {
  const target = profile.target?.name;
  if (!test && target !== undefined) {
    const { x, y } = await encodeTrainSet(source, profile, { target, signal });
    return [x, y];
  }
  const columns = profile.columns.filter(({ name }) => name !== target);
  return [await encodeBatches(columns, readBatches(source, columns, { signal }), { signal })];
}
