import { type Column, encodeBatches, fileAsIs, profileTable, readBatches, type TableFile } from '../table';
import { untilAborted } from '../util/abort';
import { ServiceError, toServiceError } from '../wire/service-error';
import type { Context } from './context/context';
import { describeExcess, limitSetOf, sizeExcess, testExcess, versionOf } from './context/limits';
import { chooseModel, type ResolvedModel, resolveTarget, unknownModel } from './models/model-request';
import { noteIfDead } from './predict/test-set';
import { openInput, readTrainSet, sendTrainSet } from './train/train-set';
import type { Hooks, PredictRequest, UploadCard, UploadRequest } from './types';

/** Uploads a train set or a test set; answers its card, which is kept by its id. */
export async function upload(context: Context, request: UploadRequest, hooks: Hooks): Promise<UploadCard> {
  return request.set === 'train' ? uploadTrain(context, request, hooks) : uploadTest(context, request, hooks);
}

async function uploadTrain(context: Context, request: UploadRequest, hooks: Hooks): Promise<UploadCard> {
  const set = await readTrainSet(
    context,
    { ...request, target: request.target, task: 'auto', options: {}, order: 'auto' },
    hooks,
  );
  try {
    const card = await sendTrainSet(context, set, request, hooks);
    await context.cards.flush();
    return card;
  } finally {
    await Promise.all([set.x.dispose(), set.y.dispose()]);
  }
}

async function uploadTest(context: Context, request: UploadRequest, hooks: Hooks): Promise<UploadCard> {
  const { signal } = hooks;
  const target = await knownTarget(context, request, signal);
  const known = target.name !== target.fittedId;
  hooks.onStatus?.({ key: 'reading' });
  const { file, columns } = await testFile(request, target, hooks);
  try {
    await assertWithinLimits(context, target, file, columns.length, signal);
    const client = await context.client();
    const sent = await client.uploadTestSet(
      {
        fitted_train_set_id: target.fittedId,
        x: file,
        ...(request.forceReupload === true && { force: true }),
        ...(request.chunks === true && { chunks: true }),
      },
      {
        signal,
        onProgress: (bytes, total) => hooks.onStatus?.({ key: 'uploading', sent: bytes, total }),
      },
    );
    const card: UploadCard = {
      set: 'test',
      id: sent.test_set_upload_id,
      format: file.format,
      rows: file.rows,
      bytes: file.bytes,
      hash: file.hash,
      reused: sent.reused,
      columns: [...columns],
      fitted_train_set_id: target.fittedId,
      ...(known && { task: target.task }),
      ...(target.classes !== undefined && { classes: [...target.classes] }),
    };
    context.cards.putUpload(card);
    return card;
  } catch (error) {
    throw noteIfDead(context, target, toServiceError(error));
  } finally {
    await file.dispose();
  }
}

/** The rows as a file of the model's columns: a Parquet file on disk that has them already goes as it is. */
async function testFile(
  request: UploadRequest,
  target: ResolvedModel,
  { signal, onStatus }: Hooks,
): Promise<{ file: TableFile; columns: readonly Column[] }> {
  const { table, format, ignore, types, missingColumns } = request;
  const read = (fraction: number): void => onStatus?.({ key: 'reading', fraction });
  if ('path' in table && format !== 'csv' && target.columns.length > 0) {
    const file = await fileAsIs(table.path, target.columns, { signal, onRead: read });
    if (file !== undefined) {
      return { file, columns: target.columns };
    }
  }
  const source = await openInput(table, signal);
  // A bare id says nothing of the columns: their types are settled in a pass of its own.
  const known = target.columns.length > 0;
  const columns = known
    ? target.columns
    : (await profileTable(source, { ignore, types, signal, onRead: (part) => read(part / 2) })).columns;
  const onRead = (part: number): void => read(known ? part : 0.5 + part / 2);
  const batches = readBatches(source, columns, { missingColumns, signal, onRead });
  return { file: await encodeBatches(columns, batches, { format, signal }), columns };
}

/** An upload is one test set: it cannot be split. */
async function assertWithinLimits(
  context: Context,
  target: ResolvedModel,
  file: TableFile,
  columns: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (file.rows === 0) {
    throw new ServiceError('table.empty', 'The table has no rows: there is nothing to upload.');
  }
  const limits = await context.limits.forChecks(signal);
  const set = limitSetOf(limits, versionOf(limits, target.options));
  const excess = [
    ...testExcess(set, { rows: file.rows, columns }, { trainRows: target.trainRows }),
    ...sizeExcess(limits, file.bytes),
  ];
  if (excess.length > 0) {
    throw new ServiceError(
      'limit.exceeded',
      `The test set is beyond the limits of the service: ${describeExcess(excess)}. Nothing was sent. ` +
        'A predict node splits such a table by itself.',
    );
  }
}

/** The model that a test set is for, once its fit has ended where one is under way. */
async function knownTarget(
  context: Context,
  request: UploadRequest,
  signal: AbortSignal | undefined,
): Promise<ResolvedModel> {
  const choice = chooseModel(request, context.cards);
  // An upload needs no task; any lets a bare id through.
  const asked: PredictRequest = choice.kind === 'id' ? { task: 'classification' } : {};
  const name = choice.kind === 'name' ? choice.name : '';
  let target = resolveTarget(choice, asked, context.cards);
  for (let end = context.cards.fitEnd(name); target === undefined && end !== undefined;) {
    await untilAborted(end, signal);
    target = resolveTarget(choice, asked, context.cards);
    end = context.cards.fitEnd(name);
  }
  if (target === undefined) {
    throw unknownModel(name, context.cards);
  }
  return target;
}
