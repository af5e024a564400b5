import type { UploadCard } from '../models/cards';
import { chooseLimits, chooseVersion, describeExcess, sizeExcess, testExcess } from '../models/limits';
import { modelReference, type ResolvedModel, resolveModel, unknownModel } from '../models/model-request';
import type { Context, Work } from '../models/service';
import type { PredictRequest, UploadRequest } from '../models/types';
import { noteIfDead } from '../predict/test-set';
import type { Column } from '../table/cells/types';
import { encodeBatches } from '../table/encoder/encode';
import { fileAsIs } from '../table/open';
import type { TableFile } from '../table/storage/table-file';
import { openInput, readTrainSet, sendTrainSet } from '../train/train-set';
import { untilAborted } from '../util/concurrency';
import { ServiceError, toServiceError } from '../wire/service-error';

/** Uploads a train set or a test set; returns its card, which is stored by its id. */
export async function upload(work: Work, request: UploadRequest): Promise<UploadCard> {
  return request.set === 'train' ? uploadTrain(work, request) : uploadTest(work, request);
}

async function uploadTrain(work: Work, request: UploadRequest): Promise<UploadCard> {
  const set = await readTrainSet(work, {
    ...request,
    target: request.target,
    task: 'auto',
    options: {},
    order: 'auto',
  });
  try {
    const card = await sendTrainSet(work, set, request);
    await work.cards.flush();
    return card;
  } finally {
    await Promise.all([set.x.dispose(), set.y.dispose()]);
  }
}

async function uploadTest(work: Work, request: UploadRequest): Promise<UploadCard> {
  const { signal } = work;
  const model = await knownModel(work, request, signal);
  const known = model.name !== model.fittedId;
  work.onStatus?.({ key: 'reading' });
  const { file, columns } = await testFile(work, request, model);
  try {
    await assertWithinLimits(work, model, { rows: file.rows, bytes: file.bytes, columns: columns.length });
    const client = await work.service.client();
    const sent = await client.uploadTestSet(
      {
        fitted_train_set_id: model.fittedId,
        x: file,
        ...(request.forceReupload === true && { force: true }),
        ...(request.chunks === true && { chunks: true }),
      },
      {
        signal,
        onProgress: (bytes, total) => work.onStatus?.({ key: 'uploading', sent: bytes, total }),
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
      fitted_train_set_id: model.fittedId,
      ...(known && { task: model.task }),
      ...(model.classes !== undefined && { classes: [...model.classes] }),
    };
    work.cards.putUpload(card);
    return card;
  } catch (error) {
    throw noteIfDead({ context: work, model }, toServiceError(error));
  } finally {
    await file.dispose();
  }
}

/** The rows as a file of the model's columns: a Parquet file on disk that has them already goes as it is. */
async function testFile(
  { service, signal, onStatus }: Work,
  request: UploadRequest,
  model: ResolvedModel,
): Promise<{ file: TableFile; columns: readonly Column[] }> {
  const { table, format, ignore, types, missingColumns } = request;
  const read = (fraction: number): void => onStatus?.({ key: 'reading', fraction });
  if ('path' in table && format !== 'csv' && model.columns.length > 0) {
    const file = await fileAsIs(table.path, model.columns, { signal, onRead: read });
    if (file !== undefined) {
      return { file, columns: model.columns };
    }
  }
  const source = await openInput(table, signal);
  // A bare id says nothing about the columns, so their types are found in a pass of its own.
  const known = model.columns.length > 0;
  const columns = known
    ? model.columns
    : (await source.profile({ ignore, types, signal, onRead: (part) => read(part / 2) })).columns;
  const onRead = (part: number): void => read(known ? part : 0.5 + part / 2);
  const batches = source.batches(columns, { missingColumns, signal, onRead });
  return {
    file: await encodeBatches(columns, batches, { format, compress: !service.isLocal, signal }),
    columns,
  };
}

/** An upload is one test set: it cannot be split. */
async function assertWithinLimits(
  { service, signal }: Work,
  model: ResolvedModel,
  { rows, bytes, columns }: { rows: number; bytes: number; columns: number },
): Promise<void> {
  if (rows === 0) {
    throw new ServiceError('table.empty', 'The table has no rows: there is nothing to upload.');
  }
  const limits = await service.limits.forChecks(signal);
  const set = chooseLimits(limits, chooseVersion(limits, model.options));
  const excess = [
    ...testExcess(set, { rows, columns }, { trainRows: model.trainRows }),
    ...sizeExcess(limits, bytes),
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
async function knownModel(
  context: Context,
  request: UploadRequest,
  signal: AbortSignal | undefined,
): Promise<ResolvedModel> {
  const reference = modelReference(request, context.cards);
  // An upload needs no task, but a bare id is only accepted with one.
  const asked: PredictRequest = reference.kind === 'id' ? { task: 'classification' } : {};
  const name = reference.kind === 'name' ? reference.name : '';
  let model = resolveModel(reference, asked, context.cards);
  for (let end = context.cards.fits.end(name); model === undefined && end !== undefined;) {
    await untilAborted(end, signal);
    model = resolveModel(reference, asked, context.cards);
    end = context.cards.fits.end(name);
  }
  if (model === undefined) {
    throw unknownModel(name, context.cards);
  }
  return model;
}
