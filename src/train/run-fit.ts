import type { SeenRows, UploadCard } from '../models/cards';
import type { FitUnderWay } from '../models/fits-under-way';
import type { Context, Service, Work } from '../models/service';
import type { PendingFit } from '../models/service-section';
import type { TrainRequest } from '../models/types';
import type { Column } from '../table/cells/types';
import { isObject } from '../util/values';
import { ServiceError, toServiceError } from '../wire/service-error';
import type { ThinkingFolds } from '../wire/types';
import type { Task } from '../wire/vocabulary';
import { keepReference, readReport, withThresholds } from './report';
import { describeFolds, type Lineage } from './row-plan';
import { sendTrainSet, type TrainSet } from './train-set';

/** What hosted services are known to ask of a thinking fit. */
const MIN_ROWS = 500;
const MAX_SECONDS = 2400;
const TICK_MS = 1000;
/** A shorter fit ends before its progress is asked for. */
const ASK_AFTER_S = 2;

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

/** The result of a fit, with what the specification does not have. */
interface FitAnswer {
  fittedId: string;
  report?: unknown;
}

/** Whether the fit may still be running after this error. */
function leavesFitPending(error: ServiceError): boolean {
  return error.code !== 'fit.failed';
}

/**
 * The answer to a fit that was pending when last heard of; undefined if the service no longer knows it, so that it
 * must be requested again.
 */
async function resumedFit(work: Work, pending: PendingFit): Promise<FitAnswer | undefined> {
  const { fitted_train_set_id: id } = pending.card;
  try {
    const answer = await work.service.resumeFit(id, { signal: work.signal });
    if (answer === undefined) {
      work.cards.removePending(id);
      return undefined;
    }
    return { fittedId: id, report: answer.report };
  } catch (thrown) {
    const error = toServiceError(thrown);
    if (!leavesFitPending(error)) {
      work.cards.failPending(id);
    }
    if (error.code === 'fit.failed' && error.cause?.status === 404) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Resumes a fit that a restart or a deploy interrupted: its model is there as soon as the service is done. The held-out
 * rows are gone by then, so the card has the service's own scores at best.
 */
export async function takeUpFit(work: Work, pending: PendingFit, underWay: FitUnderWay): Promise<void> {
  try {
    const fitted = await resumedFit(work, pending);
    if (fitted === undefined) {
      throw new ServiceError('fit.failed', 'The service does not know the fit that was under way any more.');
    }
    const { card, fingerprint, threshold } = pending;
    const reference = await work.cards.references.get(fitted.fittedId);
    const report = readReport(fitted.report, { inTime: card.order === 'time' });
    await keepReference(work, fitted.fittedId, reference, report);
    const done = { ...card, fitted_at: new Date().toISOString(), ...report.card };
    const costs = card.costs as Record<string, unknown> | undefined;
    underWay.done(withThresholds(work, done, { costs, threshold }, report.curves), fingerprint);
    await work.cards.flush();
  } catch (thrown) {
    const error = toServiceError(thrown);
    underWay.failed(error);
    if (error.code !== 'closed') {
      work.onWarning?.(`The fit of "${pending.card.name}", which was under way before: ${error.message}`);
    }
  }
}

/**
 * Reports every second how long a fit has run and, where the service tells it, how far it is.
 */
function followFit({ service, onStatus, signal }: Work, uploadId: string): { end: () => void } {
  if (onStatus === undefined) {
    return { end: () => undefined };
  }
  const began = performance.now();
  const ended = new AbortController();
  const elapsed = (): number => Math.round((performance.now() - began) / 1000);
  let fraction: number | undefined;
  let asking = false;
  const report = (): void =>
    onStatus({ key: 'fitting', seconds: elapsed(), ...(fraction !== undefined && { fraction }) });
  const ask = async (): Promise<void> => {
    asking = true;
    try {
      const options = { signal: ended.signal, timeoutMs: 5 * TICK_MS };
      const known = await service.fitProgress(uploadId, options);
      // Folds end in any order: progress never goes back.
      if (known !== undefined && known > (fraction ?? 0)) {
        fraction = known;
      }
    } catch {
      // No progress is shown then; the fit itself reports what is wrong.
    } finally {
      asking = false;
    }
  };
  report();
  const timer = setInterval(() => {
    report();
    if (!asking && elapsed() >= ASK_AFTER_S && signal?.aborted !== true) {
      void ask();
    }
  }, TICK_MS);
  return {
    end: () => {
      clearInterval(timer);
      ended.abort();
    },
  };
}

/** Whether a hosted service is to think, which draws folds of its own. */
export function isHostedThinking(
  { thinks }: Pick<Service, 'thinks'>,
  { thinking, systems }: Pick<TrainRequest, 'thinking' | 'systems'>,
): boolean {
  return thinks && (thinking?.effort !== undefined || systems?.includes('thinking') === true);
}

/** What a hosted service will probably say of a thinking fit, said before a table is uploaded in vain. */
export function thinkingWarnings({ thinking }: Pick<TrainRequest, 'thinking'>, rows: number): string[] {
  const warnings: string[] = [];
  if (rows > 0 && rows < MIN_ROWS) {
    warnings.push(
      `Thinking needs at least ${MIN_ROWS} rows on the services known so far; this train set has ${rows}.`,
    );
  }
  if ((thinking?.timeoutSecs ?? 0) > MAX_SECONDS) {
    warnings.push(
      `Thinking may take ${MAX_SECONDS} s at most on the services known so far; the time limit is ${thinking!.timeoutSecs} s.`,
    );
  }
  return warnings;
}

/**
 * By which columns of the train set a hosted thinking fit is to draw its folds, as *Group* and *Order of rows* say. Where
 * known groups go on, the time of all rows decides; else groups stay together. Undefined where nothing says.
 *
 * @param columns the features that are sent
 * @param timeColumn tells the time; undefined where it is not known
 */
export function makeThinkingFolds(
  { order, group }: Lineage,
  folds: TrainRequest['folds'],
  columns: readonly Column[],
  timeColumn: string | undefined,
): ThinkingFolds | undefined {
  const isSent = (name: string | undefined): name is string => columns.some((column) => column.name === name);
  const time = order === 'time' && isSent(timeColumn) ? timeColumn : undefined;
  if (isSent(group) && !(folds === 'blocks' && time !== undefined)) {
    return { group_col: group, ...(time !== undefined && { group_time_col: time }) };
  }
  return time === undefined ? undefined : { time_col: time };
}

/** Why folds may mix rows that should be apart, a sentence each. */
export function thinkingFoldWarnings({ order, group }: Lineage, folds: ThinkingFolds = {}): string[] {
  const warnings: string[] = [];
  if (group !== undefined && folds.group_col === undefined && folds.time_col === undefined) {
    warnings.push(
      `The train set was sent without the group "${group}", so the folds of the thinking fit may split its rows.`,
    );
  }
  if (order === 'time' && folds.time_col === undefined && folds.group_time_col === undefined) {
    warnings.push(
      'The rows are in order of time, but no column of the train set tells the time: the folds of the thinking fit mix older and newer rows.',
    );
  }
  return warnings;
}

type Fitted = FitAnswer & { uploadId: string };

/** What a fit reports before it has ended. */
export interface FitSteps {
  /** Its train set is in the service; the fit begins when this resolves. */
  sent?(uploadId: string): Promise<void>;
  /** It goes on in the service by itself. */
  pending?(fittedId: string, uploadId: string): void;
}

/** The result of the same fit, if a restart or a time-out left one running in the service: it began anew with this message. */
export async function fitUnderWay(
  work: Work & Pick<FitUnderWay, 'goesOn'>,
  request: TrainRequest,
  fingerprint: string | undefined,
): Promise<Fitted | undefined> {
  const pending = work.cards.pending().find((fit) => fit.fingerprint === fingerprint);
  if (fingerprint === undefined || pending === undefined || request.forceRefit === true) {
    return undefined;
  }
  const { card, threshold } = pending;
  const uploadId = card.train_set_upload_id;
  if (card.name === request.model) {
    work.goesOn({ card, fingerprint, ...(threshold && { threshold }) });
  }
  const following = followFit(work, uploadId);
  try {
    const answer = await resumedFit(work, pending);
    return answer && { ...answer, uploadId };
  } finally {
    following.end();
  }
}

/** Uploads the train set, if there is one here, and fits it. A reused upload that fit refuses is uploaded again, once. */
export async function sendAndFit(work: Work, fitting: Fitting, steps: FitSteps): Promise<Fitted> {
  const { request, upload, set } = fitting;
  const fitted = async (id: string): Promise<Fitted> => {
    const release = work.cards.hold(id);
    try {
      await steps.sent?.(id);
      return { ...(await fit(work, fitting, id, steps)), uploadId: id };
    } finally {
      release();
    }
  };
  if (set === undefined) {
    return fitted(upload.id!);
  }
  const sent = await sendTrainSet(work, set, request, true);
  try {
    return await fitted(sent.id);
  } catch (thrown) {
    const { code } = toServiceError(thrown);
    if (!sent.reused || !(code === 'not_found' || code === 'validation.failed' || code === 'duplicate')) {
      throw thrown;
    }
    const again = await sendTrainSet(work, set, { ...request, forceReupload: true }, true);
    return fitted(again.id);
  }
}

async function fit(work: Work, fitting: Fitting, uploadId: string, steps: FitSteps): Promise<FitAnswer> {
  const { service } = work;
  const client = await service.client();
  const { request, task, upload, thinkingFolds } = fitting;
  const { thinking, systems } = request;
  const options = fitOptions(work, fitting);
  const { signal } = work;
  const where = await service.backgroundFit(upload.bytes, signal);
  const following = followFit(work, uploadId);
  let pendingId: string | undefined;
  try {
    const answer = await service.reach.of(
      client.fit(
        {
          train_set_upload_id: uploadId,
          task,
          ...(systems !== undefined && systems.length > 0 && { svc_systems: systems }),
          ...(Object.keys(options).length > 0 && { svc_config: options }),
          ...(thinking?.effort !== undefined && { thinking_effort: thinking.effort as 'medium' | 'high' }),
          ...(thinking?.timeoutSecs !== undefined && { thinking_timeout_s: thinking.timeoutSecs }),
          ...(thinking?.metric !== undefined && { thinking_effort_metric: thinking.metric }),
          ...(thinkingFolds !== undefined && { thinking_folds: thinkingFolds }),
          ...(request.forceRefit === true && { force_refit: true }),
        },
        {
          signal,
          ...where,
          onPending: (id) => {
            pendingId = id;
            steps.pending?.(id, uploadId);
          },
        },
      ),
    );
    pendingId = answer.fitted_train_set_id;
    return { fittedId: pendingId, report: answer.report };
  } catch (thrown) {
    if (pendingId !== undefined && !leavesFitPending(toServiceError(thrown))) {
      work.cards.failPending(pendingId);
    }
    throw thrown;
  } finally {
    following.end();
  }
}

/** The options of the fit request: how to draw folds is told where the service takes it, and the user's options win. */
function fitOptions({ service }: Context, { request, set, lineage }: Fitting): Record<string, unknown> {
  const { options = {} } = request;
  const folds = set === undefined ? describeFolds(request, lineage.order ?? 'none', true) : set.folds;
  if (!service.takesFolds || folds === undefined) {
    return options;
  }
  const own = isObject(options.inference_config) ? options.inference_config : {};
  return { ...options, inference_config: { ...folds, ...own } };
}
