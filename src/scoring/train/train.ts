import { cloneJson, isObject } from '../../util/json';
import { ServiceError } from '../../wire/service-error';
import type { Context } from '../context/context';
import { assertKeepsUploads, checkOnPremFit } from '../context/on-prem';
import type { FitUnderWay, PutModel } from '../models/fits-under-way';
import { assertPlain } from '../models/options';
import type { FittedModel, Hooks, TrainRequest, TrainResult, UploadCard } from '../types';
import { scoreDoubts } from './doubts';
import { fingerprintOf } from './fingerprint';
import { keepReference, referenceOfSet } from './keep-reference';
import { readCurves } from './read-curves';
import { readReport, tellsNeighboursAlike } from './report';
import { foldsOf, type Lineage, lineageOf } from './row-plan';
import { fitUnderWay, sendAndFit } from './run-fit';
import { announceCost, scoreHoldout } from './score-holdout';
import { NEIGHBOURS_ALIKE, scoresOfLevel, scoreWarnings } from './score-warnings';
import { thinkingWarnings } from './thinking';
import { readTrainSet, type TrainSet } from './train-set';

/** Fits a model and keeps it as a version of its name, by `put`. Announce the fit before, by `cards.beginFit`. */
export async function train(
  context: Context,
  request: TrainRequest,
  hooks: Hooks,
  put: FitUnderWay['done'],
): Promise<TrainResult> {
  assertPlain(request.options, 'options');
  checkOnPremFit(context, request, hooks);
  const { trainSetUploadId } = request;
  if (trainSetUploadId !== undefined) {
    assertKeepsUploads(context, 'a fit takes no msg.train_set_upload_id');
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
      // The rows are read again here where the endpoint takes none as a file.
      ...(context.onPrem && { format: undefined }),
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
  put: FitUnderWay['done'],
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
      const { card, aside } = known;
      if ((await context.cards.reference(card.fitted_train_set_id)) === undefined) {
        await keepReference(context, card.fitted_train_set_id, await referenceOfSet(set), undefined);
      }
      const answer = aside
        ? { own: card, inCharge: context.cards.named(request.model)!.card() }
        : put({ ...card, name: request.model }, fingerprint);
      await context.cards.flush();
      return { ...resultOf(answer, hooks, 'known'), reused: true, taskFound };
    }
  }
  if (set?.holdout !== undefined) {
    await announceCost(context, { columns: upload.columns, options }, set.holdout, hooks);
  }
  for (const warning of thinkingWarnings(context.key, request, upload.rows)) {
    hooks.onWarning?.(warning);
  }
  const asked = { ...request, options: fitOptions(context, options, folds) };
  const cardOf = (fittedId: string, uploadId: string): FittedModel => ({
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
    ...(context.onPrem && { keeps_rows: true as const }),
    fitted_train_set_id: fittedId,
    train_set_upload_id: uploadId,
  });
  const reference = await referenceOfSet(set);
  const fitted =
    (await fitUnderWay(context, request, fingerprint, hooks)) ??
    (await sendAndFit(context, asked, task, upload, set, hooks, (fittedId, uploadId) => {
      context.cards.putPending({ card: cardOf(fittedId, uploadId), fingerprint });
      // It never fails; a restart finds it when the fit is taken up.
      void keepReference(context, fittedId, reference, undefined);
    }));
  const card: FittedModel = { ...cardOf(fitted.fittedId, fitted.uploadId), ...readReport(fitted.report) };
  if (card.scores !== undefined && set?.now !== undefined) {
    card.scores = scoresOfLevel(card.scores, set.now);
  }
  if (card.limited !== undefined) {
    hooks.onWarning?.(
      `The model "${card.name}" is fitted, but its fit had to save work: ${card.limited.join(' ')}`,
    );
  }
  let curves = readCurves(fitted.report);
  let neighboursAlike = tellsNeighboursAlike(fitted.report);
  if (set?.holdout !== undefined) {
    const scored = await scoreHoldout(context, card, set.holdout, hooks);
    if (scored !== undefined) {
      card.scores = { ...scored.scores, baseline_now: set.now?.held };
      ({ curves } = scored);
      neighboursAlike ||= scored.neighboursAlike;
    }
  }
  for (const warning of scoreWarnings(card)) {
    hooks.onWarning?.(warning);
  }
  const doubts = [...(upload.doubts ?? []), ...scoreDoubts(card.scores, set?.distinctRows)];
  if (neighboursAlike && card.order !== 'time' && card.group === undefined) {
    doubts.push(NEIGHBOURS_ALIKE);
  }
  for (const doubt of doubts) {
    hooks.onWarning?.(doubt);
  }
  if (doubts.length > 0) {
    card.doubts = doubts;
  }
  await keepReference(context, card.fitted_train_set_id, reference, curves);
  const answer = put(card, fingerprint);
  await context.cards.flush();
  const result = resultOf(answer, hooks, 'new');
  const ownCurves = result.aside === undefined ? curves : undefined;
  return { ...result, ...(ownCurves !== undefined && { curves: ownCurves }), reused: false, taskFound };
}

/** The card in charge, which is another one where the model of the fit does not take charge; one warning says so. */
function resultOf(
  { own, inCharge }: PutModel,
  { onWarning }: Hooks,
  fit: 'new' | 'known',
): Pick<TrainResult, 'card' | 'aside'> {
  if (own.version === inCharge.version) {
    return { card: cloneJson(inCharge) };
  }
  const { name, version } = own;
  const why =
    fit === 'new'
      ? `meanwhile it was rolled back or fitted again, so that version ${inCharge.version} is in charge and the new version ${version} is not`
      : `this is the train set of version ${version}, which is not in charge any more: version ${inCharge.version} stays`;
  onWarning?.(`The model "${name}": ${why}. To put it in charge, send msg.rollback = ${version}.`);
  return { card: cloneJson(inCharge), aside: version };
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
