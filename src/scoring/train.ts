import { createHash } from 'node:crypto';
import {
  encodeTrainSet,
  openTable,
  openTableFile,
  profileTable,
  type TableFile,
  type TableProfile,
  type TableSource,
} from '../table';
import { ServiceError, toServiceError } from '../wire/service-error';
import type { ModelLimits, System } from '../wire/types';
import type { Context } from './context';
import { describeExcess, limitSetOf, sizeExcess, trainExcess, versionOf } from './limits';
import { autoTask, checkTarget } from './task';
import type { Hooks, TableChoices, TableInput, Task, TrainRequest, TrainResult, UploadCard } from './types';

/** A train set on this side: its files, and what its upload card will say. */
export interface TrainSet {
  x: TableFile;
  y: TableFile;
  card: Omit<UploadCard, 'id' | 'reused'>;
}

export interface TrainSetRequest extends TableChoices {
  table: TableInput;
  target: string | undefined;
  task: 'auto' | Task;
  options: Record<string, unknown>;
}

/** Fits a model and puts its card under its name (DESIGN 6, fit). Announce the fit before, by `cards.beginFit`. */
export async function train(
  context: Context,
  request: TrainRequest,
  hooks: Hooks,
  put: (card: TrainResult['card'], fingerprint: string | undefined) => void,
): Promise<TrainResult> {
  const { trainSetUploadId } = request;
  if (trainSetUploadId !== undefined && trainSetUploadId !== '') {
    const upload =
      request.upload?.id === trainSetUploadId ? request.upload : context.cards.upload(trainSetUploadId);
    return fitUpload(context, request, upload ?? unknownUpload(trainSetUploadId), undefined, hooks, put);
  }
  if (request.table === undefined) {
    throw new ServiceError(
      'table.empty',
      'There is no table: the message holds neither rows nor an upload id.',
    );
  }
  const set = await prepareTrainSet(
    context,
    {
      ...request,
      table: request.table,
      target: request.target,
      task: request.task ?? 'auto',
      options: request.options ?? {},
    },
    hooks,
  );
  try {
    return await fitUpload(context, request, set.card, set, hooks, put);
  } finally {
    await Promise.all([set.x.dispose(), set.y.dispose()]);
  }
}

/**
 * Reads, checks and encodes a train set. Nothing is sent.
 *
 * @throws ServiceError `target.missing`, `table.invalid`, `table.empty`; `limit.exceeded` by the service's limits
 */
export async function prepareTrainSet(
  context: Context,
  request: TrainSetRequest,
  hooks: Hooks,
): Promise<TrainSet> {
  const { target, ignore, types, format } = request;
  const { signal } = hooks;
  if (target === undefined || target === '') {
    throw new ServiceError(
      'target.missing',
      'No target is named: set the column to predict in the dialog or in msg.target.',
    );
  }
  hooks.onStatus?.({ key: 'reading' });
  const source = await openInput(request.table, signal);
  const profile = await profileTable(source, { target, ignore, types, signal });
  for (const warning of profile.warnings) {
    hooks.onWarning?.(warning);
  }
  const auto = autoTask(profile);
  const task = request.task === 'auto' ? auto : request.task;
  checkTarget(profile, task);
  const columns = profile.columns.filter((column) => column.name !== target);
  if (columns.length === 0) {
    throw new ServiceError(
      'table.invalid',
      `The table has no column but the target "${target}": nothing to learn from.`,
    );
  }
  const limits = await context.limits.forChecks(signal);
  demandWithinLimits(limits, profile, columns.length, task, request.options);
  const { x, y } = await encodeTrainSet(source, profile, { target, format, signal });
  try {
    for (const file of [x, y]) {
      const excess = sizeExcess(limits, file.bytes);
      if (excess.length > 0) {
        throw new ServiceError(
          'limit.exceeded',
          `The train set is too large: ${describeExcess(excess)} bytes.`,
        );
      }
    }
  } catch (error) {
    await Promise.all([x.dispose(), y.dispose()]);
    throw error;
  }
  const classes = profile.target?.classes;
  return {
    x,
    y,
    card: {
      set: 'train',
      format: x.format,
      rows: profile.rows,
      bytes: x.bytes + y.bytes,
      hash: `${x.hash},${y.hash}`,
      target,
      columns,
      ...(classes !== undefined && { classes }),
      task: auto,
    },
  };
}

/** Sends a train set and keeps its upload card. */
export async function sendTrainSet(
  context: Context,
  set: TrainSet,
  choices: TableChoices,
  hooks: Hooks,
): Promise<UploadCard> {
  const client = await context.client();
  const onProgress = (sent: number, total: number): void => {
    hooks.onStatus?.({ key: 'uploading', percent: total === 0 ? 100 : Math.floor((100 * sent) / total) });
  };
  const sent = await client.uploadTrainSet(
    {
      x: set.x,
      y: set.y,
      ...(choices.description !== undefined &&
        choices.description !== '' && { description: choices.description }),
      ...(choices.forceReupload === true && { force: true }),
      ...(choices.chunks === true && { chunks: true }),
    },
    { signal: hooks.signal, onProgress },
  );
  const card: UploadCard = { ...set.card, id: sent.train_set_upload_id, reused: sent.reused };
  context.cards.putUpload(card);
  return card;
}

async function fitUpload(
  context: Context,
  request: TrainRequest,
  upload: Omit<UploadCard, 'id' | 'reused'> & { id?: string },
  set: TrainSet | undefined,
  hooks: Hooks,
  put: (card: TrainResult['card'], fingerprint: string | undefined) => void,
): Promise<TrainResult> {
  const wanted = request.task ?? 'auto';
  const task = wanted === 'auto' ? upload.task : wanted;
  if (task === undefined) {
    throw new ServiceError(
      'config.invalid',
      `The train set ${upload.id ?? ''} was not uploaded from here, so the task cannot be found out: choose one.`,
    );
  }
  const options = request.options ?? {};
  const fingerprint = upload.hash === '' ? undefined : fingerprintOf(upload, task, request);
  const taskFound = wanted === 'auto';
  if (fingerprint !== undefined && request.forceRefit !== true && request.forceReupload !== true) {
    const known = context.cards.byFingerprint(fingerprint, request.model);
    if (known !== undefined) {
      const card = { ...known, name: request.model };
      put(card, fingerprint);
      await context.cards.flush();
      return { card, reused: true, taskFound };
    }
  }
  const fitted = await sendAndFit(context, request, task, upload.id, set, hooks);
  const card = {
    name: request.model,
    fitted_train_set_id: fitted.fittedId,
    train_set_upload_id: fitted.uploadId,
    task,
    target: upload.target ?? '',
    columns: upload.columns,
    ...(task === 'classification' && upload.classes !== undefined && { classes: upload.classes }),
    rows: upload.rows,
    options,
    service: context.key,
    fitted_at: new Date().toISOString(),
  };
  put(card, fingerprint);
  await context.cards.flush();
  return { card, reused: false, taskFound };
}

/** Uploads where there is something to upload, fits; a reused upload id that fit refuses is given up, once. */
async function sendAndFit(
  context: Context,
  request: TrainRequest,
  task: Task,
  uploadId: string | undefined,
  set: TrainSet | undefined,
  hooks: Hooks,
): Promise<{ fittedId: string; uploadId: string }> {
  if (set === undefined) {
    return { fittedId: await fit(context, request, task, uploadId!, hooks), uploadId: uploadId! };
  }
  const sent = await sendTrainSet(context, set, request, hooks);
  try {
    return { fittedId: await fit(context, request, task, sent.id, hooks), uploadId: sent.id };
  } catch (thrown) {
    const { code } = toServiceError(thrown);
    if (!sent.reused || !(code === 'not_found' || code === 'validation.failed' || code === 'duplicate')) {
      throw thrown;
    }
    const anew = await sendTrainSet(context, set, { ...request, forceReupload: true }, hooks);
    return { fittedId: await fit(context, request, task, anew.id, hooks), uploadId: anew.id };
  }
}

async function fit(
  context: Context,
  request: TrainRequest,
  task: Task,
  uploadId: string,
  hooks: Hooks,
): Promise<string> {
  const client = await context.client();
  const { thinking, systems, options } = request;
  const began = performance.now();
  const tick = (): void =>
    hooks.onStatus?.({ key: 'fitting', seconds: Math.round((performance.now() - began) / 1000) });
  tick();
  const timer = setInterval(tick, 1000);
  try {
    const answer = await client.fit(
      {
        train_set_upload_id: uploadId,
        task,
        ...(systems !== undefined && systems.length > 0 && { svc_systems: systems as System[] }),
        ...(options !== undefined && Object.keys(options).length > 0 && { svc_config: options }),
        ...(thinking?.effort !== undefined &&
          thinking.effort !== '' && { thinking_effort: thinking.effort as 'medium' | 'high' }),
        ...(thinking?.timeoutSecs !== undefined && { thinking_timeout_s: thinking.timeoutSecs }),
        ...(thinking?.metric !== undefined &&
          thinking.metric !== '' && { thinking_effort_metric: thinking.metric }),
        ...(request.forceRefit === true && { force_refit: true }),
      },
      { signal: hooks.signal },
    );
    return answer.fitted_train_set_id;
  } finally {
    clearInterval(timer);
  }
}

export async function openInput(input: TableInput, signal: AbortSignal | undefined): Promise<TableSource> {
  return 'path' in input ? openTableFile(input.path, { signal }) : openTable(input.value, { signal });
}

function demandWithinLimits(
  limits: ModelLimits,
  profile: TableProfile,
  columns: number,
  task: Task,
  options: Record<string, unknown>,
): void {
  const set = limitSetOf(limits, versionOf(limits, options));
  const excess = trainExcess(set, {
    rows: profile.rows,
    columns,
    ...(task === 'classification' && { classes: profile.target?.distinct ?? 0 }),
  });
  if (excess.length > 0) {
    throw new ServiceError(
      'limit.exceeded',
      `The train set is beyond the limits of the service: ${describeExcess(excess)}. Nothing was sent.`,
    );
  }
}

/** An id from elsewhere: what it holds is not known. */
function unknownUpload(id: string): UploadCard {
  return { set: 'train', id, format: 'parquet', rows: 0, bytes: 0, hash: '', reused: false, columns: [] };
}

/** Equal for the same train set fitted with the same options, whichever upload id it has. */
function fingerprintOf(
  upload: Omit<UploadCard, 'id' | 'reused'>,
  task: Task,
  { options, systems, thinking }: TrainRequest,
): string {
  const parts = [
    upload.hash,
    upload.bytes,
    upload.rows,
    upload.target,
    upload.columns,
    task,
    sorted(options ?? {}),
    [...(systems ?? [])].sort(),
    sorted(thinking ?? {}),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

function sorted(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
