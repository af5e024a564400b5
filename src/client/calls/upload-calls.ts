import { toWireTestSetUpload, toWireTrainSetUpload } from '../../wire/dialect';
import { schemas } from '../../wire/load-schemas';
import type {
  FileInfo,
  PrepareTestSetUploadRequest,
  PrepareTestSetUploadResponse,
  PrepareTrainSetUploadRequest,
  PrepareTrainSetUploadResponse,
} from '../../wire/types';
import type { Call } from '../retry/deadline';
import { fileInfo, sendUpload } from '../storage/uploads';
import type { CallOptions, TestSetUpload, TrainSetOptions, TrainSetUpload, UploadSource } from '../types';
import { assertRequest, type Core } from './core';

/** S 4.1 */
export async function askTrainSetUpload(
  core: Core,
  call: Call,
  request: PrepareTrainSetUploadRequest,
): Promise<PrepareTrainSetUploadResponse> {
  assertRequest(schemas().PrepareTrainSetUploadRequestSchema, request, call.what);
  const plan = core.plan('upload', call.what, 'prepare_train_set_upload', {
    body: toWireTrainSetUpload(request, core.dialect),
    repeatable: true,
    uploadId: 'train_set_upload_id',
  });
  const body = await core.ask(call, plan, schemas().PrepareTrainSetUploadResponseSchema);
  return body;
}

/** S 4.2 */
export async function askTestSetUpload(
  core: Core,
  call: Call,
  request: PrepareTestSetUploadRequest,
): Promise<PrepareTestSetUploadResponse> {
  assertRequest(schemas().PrepareTestSetUploadRequestSchema, request, call.what);
  const plan = core.plan('upload', call.what, 'prepare_test_set_upload', {
    body: toWireTestSetUpload(request, core.dialect),
    repeatable: true,
    missing: 'model.unknown',
    uploadId: 'test_set_upload_id',
  });
  const body = await core.ask(call, plan, schemas().PrepareTestSetUploadResponseSchema);
  return body;
}

/** Prepares a train set and sends X and y side by side. */
export async function uploadTrainSet(
  core: Core,
  call: Call,
  request: TrainSetUpload,
  { onProgress, onPrepared }: TrainSetOptions,
): Promise<{ train_set_upload_id: string; reused: boolean }> {
  const { x, y, digests, description, chunks } = request;
  const infoOf = ({ format, bytes, hash }: UploadSource, digest = hash): FileInfo =>
    fileInfo({ format, bytes, hash: digest }, chunks, true);
  const prepare = async (force: boolean) => {
    const prepared = await askTrainSetUpload(core, call, {
      x_train_info: infoOf(x, digests?.x),
      y_train_info: infoOf(y, digests?.y),
      ...(description !== undefined && { description }),
      ...((force || request.force === true) && { force_reupload: true }),
    });
    await onPrepared?.(prepared.train_set_upload_id);
    return {
      id: prepared.train_set_upload_id,
      files: [
        { what: 'features', source: x, info: prepared.x_train_info },
        { what: 'target', source: y, info: prepared.y_train_info },
      ],
    };
  };
  const { id, reused } = await sendUpload(core.wiring, call, core.gates.storage, prepare, onProgress);
  return { train_set_upload_id: id, reused };
}

/** Prepares a test set for a model and sends it. */
export async function uploadTestSet(
  core: Core,
  call: Call,
  request: TestSetUpload,
  onProgress: CallOptions['onProgress'],
): Promise<{ test_set_upload_id: string; reused: boolean }> {
  const { fitted_train_set_id, x, chunks } = request;
  const prepare = async (force: boolean) => {
    const withHash = !force && request.force !== true;
    const prepared = await askTestSetUpload(core, call, {
      fitted_train_set_id,
      x_test_info: fileInfo(x, chunks, withHash),
    });
    return {
      id: prepared.test_set_upload_id,
      files: [{ what: 'test set', source: x, info: prepared.x_test_info }],
    };
  };
  const { id, reused } = await sendUpload(core.wiring, call, core.gates.storage, prepare, onProgress);
  return { test_set_upload_id: id, reused };
}
