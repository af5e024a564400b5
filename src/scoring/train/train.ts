import { createHash } from 'node:crypto';

import { cloneJson, isObject } from '../../util/json';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { System } from '../../wire/types';
import type { Context } from '../context/context';
import { assertPlain } from '../models/options';
import type { Hooks, ModelCard, Task, TrainRequest, TrainResult, UploadCard } from '../types';
import { scoreDoubts } from './doubts';
import { followFit } from './fit-progress';
import { backgroundFit, type FitAnswer, leavesFitPending, resumedFit } from './pending-fits';
import { readReport } from './report';
import { foldsOf, type Lineage, lineageOf } from './row-plan';
import { announceCost, scoreHoldout } from './score-holdout';
import { NEIGHBOURS_ALIKE, scoresOfLevel, scoreWarnings } from './score-warnings';
import { thinkingWarnings } from './thinking';
import { readTrainSet, sendTrainSet, type TrainSet } from './train-set';

/** Fits a model and puts its card under its name. Announce the fit before, by `cards.beginFit`. */
export async function train(
  context: Context,
  request: TrainRequest,
  hooks: Hooks,
  put: (card: TrainResult['card'], fingerprint: string | undefined) => void,
): Promise<TrainResult> {
  assertPlain(request.options, 'options');
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
    if (request.relativeTo !== undefined) {
      throw new ServiceError(
        'config.invalid',
        `The train set was uploaded before with its target as it is: it cannot be made relative to "${request.relativeTo}". Give the table to the fit node for that.`,
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
  const set = await readTrainSet(
    context,
    {
      ...request,
      table: request.table,
      target: request.target,
      task: request.task ?? 'auto',
      options: request.options ?? {},
      order: request.order ?? 'auto',
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
  const lineage = set?.lineage ?? uploadedLineage(upload, request);
  const folds = set === undefined ? foldsOf(request, lineage.order ?? 'none', true) : set.folds;
  const fingerprint =
    upload.hash === '' ? undefined : fingerprintOf(upload, task, { ...request, lineage }, context.learner);
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
  for (const warning of thinkingWarnings(context.key, request, upload.rows)) {
    hooks.onWarning?.(warning);
  }
  const asked = { ...request, options: fitOptions(context, options, folds) };
  const cardOf = (fittedId: string, uploadId: string): ModelCard => ({
    name: request.model,
    task,
    target: upload.target ?? '',
    columns: upload.columns,
    ...(task === 'classification' && upload.classes !== undefined && { classes: upload.classes }),
    rows: upload.rows,
    options,
    service: context.key,
    fitted_at: new Date().toISOString(),
    ...lineage,
    cleaned: upload.cleaned,
    fitted_train_set_id: fittedId,
    train_set_upload_id: uploadId,
  });
  const fitted =
    (await fitUnderWay(context, request, fingerprint, hooks)) ??
    (await sendAndFit(context, asked, task, upload, set, hooks, (fittedId, uploadId) =>
      context.cards.putPending({ card: cardOf(fittedId, uploadId), fingerprint }),
    ));
  const card: ModelCard = { ...cardOf(fitted.fittedId, fitted.uploadId), ...readReport(fitted.report) };
  if (card.scores !== undefined && set?.now !== undefined) {
    card.scores = scoresOfLevel(card.scores, set.now);
  }
  if (card.limited !== undefined) {
    hooks.onWarning?.(
      `The model "${card.name}" is fitted, but its fit had to save work: ${card.limited.join(' ')}`,
    );
  }
  if (set?.holdout !== undefined) {
    const scored = await scoreHoldout(context, card, set.holdout, hooks);
    if (scored !== undefined) {
      card.scores = { ...scored.scores, baseline_now: set.now?.held };
      if (scored.neighboursAlike && card.order !== 'time' && card.group === undefined) {
        hooks.onWarning?.(NEIGHBOURS_ALIKE);
      }
    }
  }
  for (const warning of scoreWarnings(card)) {
    hooks.onWarning?.(warning);
  }
  const doubts = [...(upload.doubts ?? []), ...scoreDoubts(card.scores, set?.distinctRows)];
  for (const doubt of doubts) {
    hooks.onWarning?.(doubt);
  }
  if (doubts.length > 0) {
    card.doubts = doubts;
  }
  put(card, fingerprint);
  await context.cards.flush();
  return { card, reused: false, taskFound };
}

type Fitted = FitAnswer & { uploadId: string };
type OnPending = (fittedId: string, uploadId: string) => void;

/** The end of the same fit, where one is under way in the service that a restart or a time-out left behind. */
async function fitUnderWay(
  context: Context,
  request: TrainRequest,
  fingerprint: string | undefined,
  hooks: Hooks,
): Promise<Fitted | undefined> {
  const pending = context.cards.pending().find((fit) => fit.fingerprint === fingerprint);
  if (fingerprint === undefined || pending === undefined || request.forceRefit === true) {
    return undefined;
  }
  const uploadId = pending.card.train_set_upload_id;
  const following = followFit(context, await context.client(), uploadId, hooks);
  try {
    const answer = await resumedFit(context, pending, hooks);
    return answer && { ...answer, uploadId };
  } finally {
    following.end();
  }
}

/** Uploads where there is something to upload, fits; a reused upload id that fit refuses is given up, once. */
async function sendAndFit(
  context: Context,
  request: TrainRequest,
  task: Task,
  upload: Pick<UploadCard, 'bytes'> & { id?: string },
  set: TrainSet | undefined,
  hooks: Hooks,
  onPending: OnPending,
): Promise<Fitted> {
  const { bytes } = upload;
  const fitted = async (id: string): Promise<Fitted> => ({
    ...(await fit(context, request, task, { id, bytes }, hooks, onPending)),
    uploadId: id,
  });
  if (set === undefined) {
    return fitted(upload.id!);
  }
  const sent = await sendTrainSet(context, set, request, hooks);
  try {
    return await fitted(sent.id);
  } catch (thrown) {
    const { code } = toServiceError(thrown);
    if (!sent.reused || !(code === 'not_found' || code === 'validation.failed' || code === 'duplicate')) {
      throw thrown;
    }
    const again = await sendTrainSet(context, set, { ...request, forceReupload: true }, hooks);
    return fitted(again.id);
  }
}

async function fit(
  context: Context,
  request: TrainRequest,
  task: Task,
  upload: { id: string; bytes: number },
  hooks: Hooks,
  onPending: OnPending,
): Promise<FitAnswer> {
  const client = await context.client();
  const { thinking, systems, options } = request;
  const { signal } = hooks;
  const where = await backgroundFit(context, upload.bytes, signal);
  const following = followFit(context, client, upload.id, hooks);
  let pendingId: string | undefined;
  try {
    const answer = await client.fit(
      {
        train_set_upload_id: upload.id,
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
      {
        signal,
        ...where,
        onPending: (id) => {
          pendingId = id;
          onPending(id, upload.id);
        },
      },
    );
    pendingId = answer.fitted_train_set_id;
    context.cards.removePending(pendingId);
    return { fittedId: pendingId, report: answer.report };
  } catch (thrown) {
    if (pendingId !== undefined && !leavesFitPending(toServiceError(thrown))) {
      context.cards.removePending(pendingId);
    }
    throw thrown;
  } finally {
    following.end();
  }
}

/** Of a train set that was uploaded before, only what its card and the request say. */
function uploadedLineage(
  upload: Pick<UploadCard, 'order'>,
  { order = 'auto', group, embargo }: TrainRequest,
): Lineage {
  const known = order === 'auto' ? upload.order : order;
  if (known === undefined && group === undefined) {
    return {};
  }
  return lineageOf({ order: known ?? 'none', group, embargo }, undefined);
}

/** What the fit alone is asked: how to draw its folds is asked of the embedded service only, and a user's word wins. */
function fitOptions(
  { key }: Context,
  options: Record<string, unknown>,
  folds: Record<string, unknown> | undefined,
): Record<string, unknown> {
  if (key !== 'embedded' || folds === undefined) {
    return options;
  }
  const own = isObject(options.inference_config) ? options.inference_config : {};
  return { ...options, inference_config: { ...folds, ...own } };
}

/** An id from elsewhere: what it holds is not known. */
function unknownUpload(id: string): UploadCard {
  return { set: 'train', id, format: 'parquet', rows: 0, bytes: 0, hash: '', reused: false, columns: [] };
}

/** Equal for the same train set fitted with the same options, whichever upload id it has. */
function fingerprintOf(
  upload: Omit<UploadCard, 'id' | 'reused'>,
  task: Task,
  request: TrainRequest & { lineage: Lineage },
  learner: string | undefined,
): string {
  const { options, systems, thinking, holdout = 0, lineage, relativeTo } = request;
  const { order, group, embargo } = lineage;
  const isPlain = order !== 'time' && group === undefined && relativeTo === undefined;
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
    ...(isPlain ? [] : [{ order, group, embargo, relativeTo }]),
    ...(learner !== undefined ? [learner] : []),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

function sorted(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
