import { isObject } from '../../util/json';
import { ServiceError } from '../../wire/service-error';
import type { ThinkingFolds } from '../../wire/types';
import type { Context, Work } from '../context/context';
import { readCurves, readLosses } from '../reference/read-reference';
import type { Reference, SeenRows } from '../reference/types';
import type { FittedModel, ModelCurves, Task, TrainRequest, UploadCard } from '../types';
import { scoreDoubts } from './doubts';
import {
  checkThresholdChoices,
  inDays,
  keepReference,
  readGrowth,
  readReport,
  referenceOfSet,
  tellsNeighboursAlike,
  UNREAD,
  withThresholds,
} from './report';
import { foldsOf, type Lineage, lineageOf } from './row-plan';
import {
  type FitSteps,
  fitUnderWay,
  isHostedThinking,
  sendAndFit,
  thinkingFoldsOf,
  thinkingFoldWarnings,
  thinkingWarnings,
} from './run-fit';
import { announceCost, scoreHoldout } from './score-holdout';
import {
  HELD_OUT_IN_BLOCKS,
  leakDoubts,
  littleEvidence,
  NEIGHBOURS_ALIKE,
  scoresOfLevel,
  scoreWarnings,
} from './score-warnings';
import { fingerprintOf, type TrainSet } from './train-set';

/** A train set that is to be fitted. */
export interface Fitting {
  request: TrainRequest;
  upload: Omit<UploadCard, 'id' | 'reused'> & { id?: string };
  /** Left out where it was uploaded before. */
  set?: TrainSet;
  /** Recognises its rows later, if the next fit is to be compared with this one. */
  seen?: SeenRows;
  task: Task;
  lineage: Lineage;
  /** The columns by which a hosted thinking fit is to draw its folds. */
  thinkingFolds?: ThinkingFolds;
  /** Equal for the same train set and options. */
  fingerprint: string | undefined;
}

/** @throws ServiceError `config.invalid` where the task cannot be found out */
export function fittingOf(
  context: Context,
  request: TrainRequest,
  upload: Fitting['upload'],
  set: TrainSet | undefined,
): Fitting {
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
      : fingerprintOf(upload, task, { ...request, lineage }, context.service.learner);
  return {
    ...{ request, upload, set, task, lineage, fingerprint },
    ...(isHostedThinking(context.service, request) && {
      thinkingFolds: thinkingFoldsOf(
        lineage,
        request.folds,
        upload.columns,
        set === undefined ? onlyDate(upload) : set.timeColumn,
      ),
    }),
  };
}

/** A fitted model that is not stored yet. */
export interface Fitted {
  card: FittedModel;
  curves?: ModelCurves;
}

/** Fits a model and scores it on the held-out rows. */
export async function fitSet(work: Work, fitting: Fitting): Promise<Fitted> {
  const { request, upload, set, fingerprint } = fitting;
  const options = request.options ?? {};
  if (set?.holdout !== undefined) {
    await announceCost(work, { columns: upload.columns, options }, set.holdout);
  }
  for (const warning of [
    ...thinkingWarnings(work.service, request, upload.rows),
    ...(isHostedThinking(work.service, request)
      ? thinkingFoldWarnings(fitting.lineage, fitting.thinkingFolds)
      : []),
  ]) {
    work.onWarning?.(warning);
  }
  const reference = await referenceOfFitting(fitting);
  const fitted =
    (await fitUnderWay(work, request, fingerprint)) ??
    (await sendFitting(work, fitting, {
      // If the process is killed before the model is stored, it is found again by its train set.
      sent: () => work.cards.flush(),
      pending: (fittedId, uploadId) => {
        const { costs, threshold } = request;
        const card = {
          ...cardOf(work, fitting, fittedId, uploadId),
          ...(costs && { costs }),
        };
        work.cards.putPending({ card, fingerprint, ...(threshold && { threshold }) });
        // Never rejects; a restart finds it when the fit is resumed.
        void keepReference(work, fittedId, reference);
      },
    }));
  let card: FittedModel = {
    ...cardOf(work, fitting, fitted.fittedId, fitted.uploadId),
    ...readReport(fitted.report),
    ...(set?.repeatedRows !== undefined && { repeated_rows: set.repeatedRows }),
  };
  if (card.scores !== undefined && set?.now !== undefined) {
    card.scores = scoresOfLevel(card.scores, set.now, readGrowth(fitted.report));
  }
  if (card.limited !== undefined) {
    work.onWarning?.(
      `The model "${card.name}" is fitted, but its fit had to save work: ${card.limited.join(' ')}`,
    );
  }
  let curves = readCurves(fitted.report);
  let neighboursAlike = tellsNeighboursAlike(fitted.report);
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
  if (neighboursAlike && card.order !== 'time' && card.group === undefined) {
    doubts.push(neighboursAlike === 'blocks' ? HELD_OUT_IN_BLOCKS : NEIGHBOURS_ALIKE);
  }
  const evidence = card.scores && littleEvidence(card.scores);
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
  const rows = { inTime: card.order === 'time', labels: set?.groupLabels };
  const losses = readLosses(fitted.report, rows);
  await keepReference(work, card.fitted_train_set_id, reference, { curves, losses });
  return { card, ...(curves !== undefined && { curves }) };
}

/** What to store of a train set with its card; undefined where its rows are not here. */
export async function referenceOfFitting({ set, seen, task }: Fitting): Promise<Reference | undefined> {
  const reference = await referenceOfSet(set, task);
  return seen === undefined ? reference : { ...(reference ?? UNREAD), seen };
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
  const fitted = await sendFitting(work, fitting, { sent });
  return cardOf(work, fitting, fitted.fittedId, fitted.uploadId);
}

function sendFitting(
  work: Work,
  { request, upload, set, task, lineage, thinkingFolds }: Fitting,
  steps: FitSteps,
): ReturnType<typeof sendAndFit> {
  const folds = set === undefined ? foldsOf(request, lineage.order ?? 'none', true) : set.folds;
  const asked = {
    ...request,
    options: fitOptions(work, request.options ?? {}, folds),
    thinkingFolds,
  };
  return sendAndFit(work, { request: asked, task, upload, set }, steps);
}

function cardOf(
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
  return lineageOf({ order: known ?? 'none', group, embargo, trainedUntil }, undefined);
}

/** The options of the fit request: how to draw folds is told where the service takes it, and the user's options win. */
function fitOptions(
  { service }: Context,
  options: Record<string, unknown>,
  folds: Record<string, unknown> | undefined,
): Record<string, unknown> {
  if (!service.takesFolds || folds === undefined) {
    return options;
  }
  const own = isObject(options.inference_config) ? options.inference_config : {};
  return { ...options, inference_config: { ...folds, ...own } };
}
