import { cloneJson } from '../../util/json';
import { ServiceError, toServiceError } from '../../wire/service-error';
import { assertKeepsUploads, type Context, type Work } from '../context/context';
import { assertPlain } from '../models/model-request';
import type { FitUnderWay, PutModel } from '../models/shared-cards';
import type { FittedModel, Hooks, TrainRequest, TrainResult, UploadCard } from '../types';
import { fitSet, type Fitted, type Fitting, fittingOf, referenceOfFitting } from './fit-set';
import { keepReference, withThresholds } from './report';
import type { TrainSetRequest } from './row-plan';
import { isHostedThinking } from './run-fit';
import { readTrainSet } from './train-set';

const DELETE_MS = 30_000;

/** Fits a model and stores it as a version of its name, by `put`. The fit must have been announced by `cards.beginFit`. */
export async function train(
  work: Work,
  request: TrainRequest,
  put: FitUnderWay['done'],
): Promise<TrainResult> {
  assertPlain(request.options, 'options');
  work.service.checkFit(request, work);
  const { trainSetUploadId } = request;
  if (trainSetUploadId !== undefined) {
    assertKeepsUploads(work, 'a fit takes no msg.train_set_upload_id');
    const given = request.upload;
    const usable =
      given?.id === trainSetUploadId && Array.isArray(given.columns) && typeof given.hash === 'string';
    const upload = usable ? given : work.cards.upload(trainSetUploadId);
    if ((request.holdout ?? 0) > 0) {
      work.onWarning?.(
        'No rows are kept back: the train set was uploaded before. Give the table to the fit node for that.',
      );
    }
    if (request.relativeTo !== undefined) {
      throw new ServiceError(
        'config.invalid',
        `The train set was uploaded before with its target as it is: it cannot be made relative to "${request.relativeTo}". Give the table to the fit node for that.`,
      );
    }
    return fitAndKeep(
      work,
      fittingOf(work, request, upload ?? unknownUpload(trainSetUploadId), undefined),
      put,
    );
  }
  const set = await readTrainSet(work, setRequestOf(work, request));
  try {
    return await fitAndKeep(work, fittingOf(work, request, set.card, set), put);
  } finally {
    await Promise.all([set.x.dispose(), set.y.dispose()]);
  }
}

/** @throws ServiceError `table.empty` where there is no table */
export function setRequestOf({ service }: Context, request: TrainRequest): TrainSetRequest {
  const { table, target, task = 'auto', options = {}, order = 'auto' } = request;
  if (table === undefined) {
    throw new ServiceError(
      'table.empty',
      'There is no table: the message holds neither rows nor an upload id.',
    );
  }
  // Where no files are sent, their format is ours: they are read again here.
  return {
    ...request,
    ...(!service.keepsUploads && { format: undefined }),
    ...{ table, target, task, options, order },
    sendsFoldColumns: isHostedThinking(service, request),
  };
}

async function fitAndKeep(work: Work, fitting: Fitting, put: FitUnderWay['done']): Promise<TrainResult> {
  const known = await keepKnown(work, fitting, put);
  return known ?? keepFitted(work, fitting, await fitSet(work, fitting), put);
}

/** The model of an unchanged train set with unchanged options; undefined if there is none, or a refit is asked for. */
export async function keepKnown(
  work: Work,
  fitting: Fitting,
  put: FitUnderWay['done'],
): Promise<TrainResult | undefined> {
  const { request, fingerprint } = fitting;
  const { model, forceRefit, forceReupload } = request;
  const known =
    fingerprint === undefined || forceRefit === true || forceReupload === true
      ? undefined
      : work.cards.byFingerprint(fingerprint, model);
  if (known === undefined) {
    return undefined;
  }
  const { aside } = known;
  const id = known.card.fitted_train_set_id;
  const reference = await work.cards.reference(id);
  if (reference === undefined) {
    await keepReference(work, id, await referenceOfFitting(fitting));
  }
  // The threshold in charge goes with the name; that of a former version, or of another name, does not.
  const card: FittedModel = { ...known.card, name: model };
  delete card.threshold;
  delete card.compared;
  const answer = aside
    ? { own: known.card, inCharge: work.cards.named(model)!.card() }
    : put(withThresholds(work, card, request, reference?.curves), fingerprint);
  await work.cards.flush();
  return { ...resultOf(answer, work, 'known'), reused: true, taskFound: isTaskFound(request) };
}

/** Stores a fitted model as a version of its name. */
export async function keepFitted(
  work: Work,
  { request, fingerprint }: Pick<Fitting, 'request' | 'fingerprint'>,
  { card, curves }: Fitted,
  put: FitUnderWay['done'],
): Promise<TrainResult> {
  const chosen = work.cards.named(card.name)?.inCharge.card.threshold;
  const answer = put(card, fingerprint);
  if (chosen !== undefined && answer.own.threshold === undefined) {
    work.onWarning?.(
      `The new fit of the model "${card.name}" has other classes, so the threshold for "${chosen.label}" no longer applies: the more probable class is answered.`,
    );
  }
  await work.cards.flush();
  const result = resultOf(answer, work, 'new');
  const ownCurves = result.aside === undefined ? curves : undefined;
  return {
    ...result,
    ...(ownCurves !== undefined && { curves: ownCurves }),
    reused: false,
    taskFound: isTaskFound(request),
  };
}

/** Whether the task was inferred (`auto`). */
export function isTaskFound({ task = 'auto' }: TrainRequest): boolean {
  return task === 'auto';
}

/** The card in charge: another one if the model of the fit does not take charge, which a warning then says. */
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

/** An upload from elsewhere, whose content is not known. */
function unknownUpload(id: string): UploadCard {
  return { set: 'train', id, format: 'parquet', rows: 0, bytes: 0, hash: '', reused: false, columns: [] };
}

/**
 * Removes models that were replaced long ago, with their train sets, from the embedded service or, for an on-premises
 * endpoint, from this computer. On a hosted service nothing is removed. A model that a prediction is using is left for
 * the next time.
 */
export async function releaseFormer(work: Work): Promise<void> {
  const { signal } = work;
  const { cards, service } = work;
  const tried = new Set<string>();
  for (;;) {
    // Looked up again each time: since the last removal a model may be in use, or have been imported.
    const next = cards.superfluous().find(({ fitted }) => !tried.has(fitted));
    if (next === undefined) {
      return;
    }
    const { fitted, upload } = next;
    tried.add(fitted);
    try {
      if (!(await service.remove(upload ?? fitted, { signal, timeoutMs: DELETE_MS }))) {
        return;
      }
    } catch (thrown) {
      const { code } = toServiceError(thrown);
      if (code !== 'not_found') {
        return;
      }
    }
    cards.forgetFormer(fitted, upload);
  }
}
