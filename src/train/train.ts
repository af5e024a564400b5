import type { ModelCurves } from '../metrics/curves';
import type { FittedModel, UploadCard } from '../models/cards';
import type { FitUnderWay, PutModel } from '../models/fits-under-way';
import { assertPlain } from '../models/model-request';
import { assertKeepsUploads, type Context, isStillThere, type Work } from '../models/service';
import type { Hooks, TrainRequest, TrainResult } from '../models/types';
import { cloneJson } from '../util/values';
import { ServiceError, toServiceError } from '../wire/service-error';
import { scoreDoubts } from './doubts';
import { announceCost, scoreHoldout } from './holdout';
import {
  checkThresholdChoices,
  inDays,
  keepReference,
  makeFitReference,
  readReport,
  withThresholds,
} from './report';
import { type Lineage, makeLineage, type TrainSetRequest } from './row-plan';
import {
  type Fitting,
  fitUnderWay,
  isHostedThinking,
  makeThinkingFolds,
  sendAndFit,
  thinkingFoldWarnings,
  thinkingWarnings,
} from './run-fit';
import {
  HELD_OUT_IN_BLOCKS,
  leakDoubts,
  littleEvidence,
  NEIGHBOURS_ALIKE,
  scoresOfLevel,
  scoreWarnings,
} from './score-warnings';
import { makeFingerprint, readTrainSet, type TrainSet } from './train-set';

const DELETE_MS = 30_000;

/** A fit that has been announced by `cards.beginFit`. */
export interface FitWork extends Work {
  /** Stores its model. */
  put: FitUnderWay['done'];
  goesOn: FitUnderWay['goesOn'];
}

export function fitWork(work: Work, { done, goesOn }: FitUnderWay): FitWork {
  return { ...work, put: done, goesOn };
}

/** Fits a model and stores it as a version of its name. */
export async function train(work: FitWork, request: TrainRequest): Promise<TrainResult> {
  assertPlain(request.options, 'options');
  work.service.checkFit(request, work);
  const { trainSetUploadId } = request;
  if (trainSetUploadId !== undefined) {
    assertKeepsUploads(work, 'a fit takes no msg.train_set_upload_id');
    const given = request.upload;
    const usable =
      given?.id === trainSetUploadId && Array.isArray(given.columns) && typeof given.hash === 'string';
    const known = usable ? given : work.cards.upload(trainSetUploadId);
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
    const upload = known ?? unknownUpload(trainSetUploadId);
    return fitAndKeep(work, makeFitting(work, request, { upload }));
  }
  const set = await readTrainSet(work, makeSetRequest(work, request));
  try {
    return await fitAndKeep(work, makeFitting(work, request, { set }));
  } finally {
    await Promise.all([set.x.dispose(), set.y.dispose()]);
  }
}

/** @throws ServiceError `table.empty` where there is no table */
export function makeSetRequest({ service }: Context, request: TrainRequest): TrainSetRequest {
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
    table,
    target,
    task,
    options,
    order,
    sendsFoldColumns: isHostedThinking(service, request),
  };
}

/** Fits a train set and stores the model, unless there is one of it. */
export async function fitAndKeep(work: FitWork, fitting: Fitting): Promise<TrainResult> {
  const known = await keepKnown(work, fitting);
  return known ?? keepFitted(work, fitting, await fitSet(work, fitting));
}

/** As `isStillThere`; a service that cannot be asked says why to what needs it. */
export async function mayBeThere(work: Work, id: string): Promise<boolean> {
  return isStillThere(work, id).catch(() => {
    work.signal?.throwIfAborted();
    return true;
  });
}

/** The model of an unchanged train set with unchanged options; undefined if there is none, or a refit is asked for. */
export async function keepKnown(work: FitWork, fitting: Fitting): Promise<TrainResult | undefined> {
  const { request, fingerprint } = fitting;
  const { model, forceRefit, forceReupload } = request;
  const known =
    fingerprint === undefined || forceRefit === true || forceReupload === true
      ? undefined
      : work.cards.byFingerprint(fingerprint, model);
  if (known === undefined || !(await mayBeThere(work, known.card.fitted_train_set_id))) {
    return undefined;
  }
  const { aside } = known;
  const id = known.card.fitted_train_set_id;
  const reference = await work.cards.references.get(id);
  if (reference === undefined) {
    await keepReference(work, id, await makeFitReference(fitting));
  }
  // The threshold in charge goes with the name; that of a former version, or of another name, does not.
  const card: FittedModel = { ...known.card, name: model };
  delete card.threshold;
  delete card.compared;
  const answer = aside
    ? { own: known.card, inCharge: work.cards.named(model)!.card() }
    : work.put(withThresholds(work, card, request, reference?.curves), fingerprint);
  await work.cards.flush();
  return { ...makeResult(work, answer, 'known'), reused: true, taskFound: isTaskFound(request) };
}

/** Stores a fitted model as a version of its name. */
async function keepFitted(
  work: FitWork,
  { request, fingerprint }: Fitting,
  { card, curves }: Fitted,
): Promise<TrainResult> {
  const chosen = work.cards.named(card.name)?.inCharge.card.threshold;
  const answer = work.put(card, fingerprint);
  if (chosen !== undefined && answer.own.threshold === undefined) {
    work.onWarning?.(
      `The new fit of the model "${card.name}" has other classes, so the threshold for "${chosen.label}" no longer applies: the more probable class is answered.`,
    );
  }
  await work.cards.flush();
  const result = makeResult(work, answer, 'new');
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
function makeResult(
  { onWarning }: Hooks,
  { own, inCharge }: PutModel,
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

/** @throws ServiceError `config.invalid` where the task cannot be found out */
export function makeFitting(
  context: Context,
  request: TrainRequest,
  from: { set: TrainSet } | { upload: UploadCard },
): Fitting {
  const set = 'set' in from ? from.set : undefined;
  const upload: Fitting['upload'] = 'set' in from ? from.set.card : from.upload;
  const wanted = request.task ?? 'auto';
  const task = wanted === 'auto' ? upload.task : wanted;
  if (task === undefined) {
    throw new ServiceError(
      'config.invalid',
      `The train set ${upload.id ?? ''} was not uploaded from here, so the task cannot be found out: choose one.`,
    );
  }
  checkThresholdChoices(request, task, upload.classes);
  const lineage = set?.lineage ?? uploadedLineage(upload, request);
  const fingerprint =
    upload.hash === ''
      ? undefined
      : makeFingerprint(upload, task, { ...request, lineage }, context.service.learner);
  return {
    request,
    upload,
    set,
    task,
    lineage,
    fingerprint,
    ...(isHostedThinking(context.service, request) && {
      thinkingFolds: makeThinkingFolds(
        lineage,
        request.folds,
        upload.columns,
        set === undefined ? onlyDate(upload) : set.timeColumn,
      ),
    }),
  };
}

/** A fitted model that is not stored yet. */
interface Fitted {
  card: FittedModel;
  curves?: ModelCurves;
}

/** Fits a model and scores it on the held-out rows. */
async function fitSet(work: FitWork, fitting: Fitting): Promise<Fitted> {
  const { request, upload, set, fingerprint } = fitting;
  const options = request.options ?? {};
  if (set?.holdout !== undefined) {
    await announceCost(work, { columns: upload.columns, options }, set.holdout);
  }
  if (isHostedThinking(work.service, request)) {
    for (const warning of [
      ...thinkingWarnings(request, upload.rows),
      ...thinkingFoldWarnings(fitting.lineage, fitting.thinkingFolds),
    ]) {
      work.onWarning?.(warning);
    }
  }
  const reference = await makeFitReference(fitting);
  const fitted =
    (await fitUnderWay(work, request, fingerprint)) ??
    (await sendAndFit(work, fitting, {
      // If the process is killed before the model is stored, it is found again by its train set.
      sent: () => work.cards.flush(),
      pending: (fittedId, uploadId) => {
        const { costs, threshold } = request;
        const card = {
          ...makeCard(work, fitting, fittedId, uploadId),
          ...(costs && { costs }),
        };
        work.goesOn({ card, fingerprint, ...(threshold && { threshold }) });
        // Never rejects; a restart finds it when the fit is resumed.
        void keepReference(work, fittedId, reference);
      },
    }));
  const inTime = fitting.lineage.order === 'time';
  const report = readReport(fitted.report, { inTime, labels: set?.groupLabels });
  let card: FittedModel = {
    ...makeCard(work, fitting, fitted.fittedId, fitted.uploadId),
    ...report.card,
    ...(set?.repeatedRows !== undefined && { repeated_rows: set.repeatedRows }),
  };
  if (card.scores !== undefined && set?.now !== undefined) {
    card.scores = scoresOfLevel(card.scores, set.now, report.growth);
  }
  if (card.limited !== undefined) {
    work.onWarning?.(
      `The model "${card.name}" is fitted, but its fit had to save work: ${card.limited.join(' ')}`,
    );
  }
  let { curves, neighboursAlike } = report;
  if (set?.holdout !== undefined) {
    const scored = await scoreHoldout(work, card, set.holdout);
    if (scored !== undefined) {
      card.scores = { ...scored.scores, baseline_now: set.now?.held };
      ({ curves } = scored);
      card.thresholds = scored.thresholds ?? card.thresholds;
      neighboursAlike ??= scored.neighboursAlike ? 'random' : undefined;
    }
  }
  const days = set?.days;
  curves = curves && inDays(curves, { days, rows: upload.rows + (set?.holdout?.rows ?? 0) });
  card = withThresholds(work, card, request, curves);
  const leaks = leakDoubts(card, set?.suspects);
  const doubts = [
    ...leaks.map(({ text }) => text),
    ...scoreWarnings(card),
    ...(upload.doubts ?? []),
    ...scoreDoubts(card.scores, set?.distinctRows),
  ];
  if (neighboursAlike && !inTime && card.group === undefined) {
    doubts.push(neighboursAlike === 'blocks' ? HELD_OUT_IN_BLOCKS : NEIGHBOURS_ALIKE);
  }
  const areTogether = inTime || card.group !== undefined || neighboursAlike !== undefined;
  const evidence = card.scores && littleEvidence(card.scores, areTogether);
  if (evidence !== undefined) {
    doubts.push(evidence);
  }
  for (const doubt of doubts.filter((one) => one !== set?.warned)) {
    work.onWarning?.(doubt);
  }
  if (doubts.length > 0) {
    card.doubts = doubts;
  }
  const columns = leaks.flatMap((leak) => leak.columns);
  if (columns.length > 0) {
    card.doubted_columns = columns;
  }
  await keepReference(work, card.fitted_train_set_id, reference, { curves, losses: report.losses });
  return { card, ...(curves !== undefined && { curves }) };
}

/**
 * Fits a model on its own: neither scored nor resumed after a restart.
 *
 * @param sent called with the id of its train set before the fit begins
 */
export async function fitAlone(
  work: Work,
  fitting: Fitting,
  sent: (uploadId: string) => Promise<void>,
): Promise<FittedModel> {
  const fitted = await sendAndFit(work, fitting, { sent });
  return makeCard(work, fitting, fitted.fittedId, fitted.uploadId);
}

function makeCard(
  context: Context,
  { request, upload, task, lineage, thinkingFolds }: Fitting,
  fittedId: string,
  uploadId: string,
): FittedModel {
  return {
    name: request.model,
    task,
    target: upload.target ?? '',
    columns: upload.columns,
    ...(task === 'classification' && upload.classes !== undefined && { classes: upload.classes }),
    rows: upload.rows,
    options: request.options ?? {},
    service: context.service.key,
    fitted_at: new Date().toISOString(),
    ...lineage,
    ...(thinkingFolds !== undefined && { thinking_folds: thinkingFolds }),
    cleaned: upload.cleaned,
    ...(!context.service.keepsUploads && { keeps_rows: true as const }),
    fitted_train_set_id: fittedId,
    train_set_upload_id: uploadId,
  };
}

/** Of a train set that was uploaded before, the column of dates, where there is just one: then it tells the time. */
function onlyDate({ columns }: Pick<UploadCard, 'columns'>): string | undefined {
  const dates = columns.filter(({ type }) => type === 'date');
  return dates.length === 1 ? dates[0]!.name : undefined;
}

/** For a train set that was uploaded before: only what its card and the request say. */
function uploadedLineage(
  upload: Pick<UploadCard, 'order'>,
  { order = 'auto', group, embargo, trainedUntil }: TrainRequest,
): Lineage {
  const known = order === 'auto' ? upload.order : order;
  if (known === undefined && group === undefined) {
    return {};
  }
  return makeLineage({ order: known ?? 'none', group, embargo, trainedUntil }, undefined);
}
