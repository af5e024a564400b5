import { createHash } from 'node:crypto';

import { cloneJson } from '../../util/json';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { System } from '../../wire/types';
import type { Context } from '../context/context';
import type { Hooks, ModelCard, Task, TrainRequest, TrainResult, UploadCard } from '../types';
import { followFit } from './fit-progress';
import { readReport } from './report';
import { announceCost, scoreHoldout } from './score-holdout';
import { prepareTrainSet, sendTrainSet, type TrainSet } from './train-set';

/** Fits a model and puts its card under its name. Announce the fit before, by `cards.beginFit`. */
export async function train(
  context: Context,
  request: TrainRequest,
  hooks: Hooks,
  put: (card: TrainResult['card'], fingerprint: string | undefined) => void,
): Promise<TrainResult> {
  const { trainSetUploadId } = request;
  if (trainSetUploadId !== undefined && trainSetUploadId !== '') {
    const given = request.upload;
    const usable =
      given?.id === trainSetUploadId && Array.isArray(given.columns) && typeof given.hash === 'string';
    const upload = usable ? given : context.cards.upload(trainSetUploadId);
    if ((request.holdout ?? 0) > 0) {
      hooks.onWarning?.(
        'No rows are kept back: the train set was uploaded before. Give the table to the fit node for that.',
      );
    }
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
  const fingerprint = upload.hash === '' ? undefined : fingerprintOf(upload, task, request, context.learner);
  const taskFound = wanted === 'auto';
  if (fingerprint !== undefined && request.forceRefit !== true && request.forceReupload !== true) {
    const known = context.cards.byFingerprint(fingerprint, request.model);
    if (known !== undefined) {
      const card = { ...cloneJson(known), name: request.model };
      put(card, fingerprint);
      await context.cards.flush();
      return { card, reused: true, taskFound };
    }
  }
  if (set?.holdout !== undefined) {
    await announceCost(context, { columns: upload.columns, options }, set.holdout, hooks);
  }
  const fitted = await sendAndFit(context, request, task, upload.id, set, hooks);
  const card: ModelCard = {
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
    ...readReport(fitted.report),
  };
  if (card.limited !== undefined) {
    hooks.onWarning?.(
      `The model "${card.name}" is fitted, but its fit had to save work: ${card.limited.join(' ')}`,
    );
  }
  if (set?.holdout !== undefined) {
    const scores = await scoreHoldout(context, card, set.holdout, hooks);
    if (scores !== undefined) {
      card.scores = scores;
    }
  }
  put(card, fingerprint);
  await context.cards.flush();
  return { card, reused: false, taskFound };
}

interface Fitted {
  fittedId: string;
  /** What the service tells of the fit, beyond the specification. */
  report?: unknown;
}

/** Uploads where there is something to upload, fits; a reused upload id that fit refuses is given up, once. */
async function sendAndFit(
  context: Context,
  request: TrainRequest,
  task: Task,
  uploadId: string | undefined,
  set: TrainSet | undefined,
  hooks: Hooks,
): Promise<Fitted & { uploadId: string }> {
  if (set === undefined) {
    return { ...(await fit(context, request, task, uploadId!, hooks)), uploadId: uploadId! };
  }
  const sent = await sendTrainSet(context, set, request, hooks);
  try {
    return { ...(await fit(context, request, task, sent.id, hooks)), uploadId: sent.id };
  } catch (thrown) {
    const { code } = toServiceError(thrown);
    if (!sent.reused || !(code === 'not_found' || code === 'validation.failed' || code === 'duplicate')) {
      throw thrown;
    }
    const anew = await sendTrainSet(context, set, { ...request, forceReupload: true }, hooks);
    return { ...(await fit(context, request, task, anew.id, hooks)), uploadId: anew.id };
  }
}

async function fit(
  context: Context,
  request: TrainRequest,
  task: Task,
  uploadId: string,
  hooks: Hooks,
): Promise<Fitted> {
  const client = await context.client();
  const { thinking, systems, options } = request;
  const following = followFit(context, client, uploadId, hooks);
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
    return { fittedId: answer.fitted_train_set_id, report: answer.report };
  } finally {
    following.end();
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
  { options, systems, thinking, holdout = 0 }: TrainRequest,
  learner: string | undefined,
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
    // Left out where there is none: fingerprints on disk stay good.
    ...(holdout > 0 ? [holdout] : []),
    ...(learner !== undefined ? [learner] : []),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

function sorted(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
