import { toServiceError } from '../../wire/service-error';
import type { System, ThinkingFolds } from '../../wire/types';
import type { Context } from '../context/context';
import type { Hooks, Task, TrainRequest, UploadCard } from '../types';
import { followFit } from './fit-progress';
import { type FitAnswer, leavesFitPending, resumedFit } from './pending-fits';
import { sendTrainSet, type TrainSet } from './train-set/train-set';

type Fitted = FitAnswer & { uploadId: string };

/** What a fit reports before it has ended. */
export interface FitSteps {
  /** Its train set is in the service; the fit begins when this resolves. */
  sent?(uploadId: string): Promise<void>;
  /** It goes on in the service by itself. */
  pending?(fittedId: string, uploadId: string): void;
}

/** The result of the same fit, if a restart or a time-out left one running in the service. */
export async function fitUnderWay(
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
  const following = followFit(context, uploadId, hooks);
  try {
    const answer = await resumedFit(context, pending, hooks);
    return answer && { ...answer, uploadId };
  } finally {
    following.end();
  }
}

/** A fit, and the columns by which a hosted thinking fit is to draw its folds. */
type AskedFit = TrainRequest & { thinkingFolds?: ThinkingFolds };

/** Uploads the train set, if there is one here, and fits it. A reused upload that fit refuses is uploaded again, once. */
export async function sendAndFit(
  context: Context,
  request: AskedFit,
  task: Task,
  upload: Pick<UploadCard, 'bytes'> & { id?: string },
  set: TrainSet | undefined,
  hooks: Hooks,
  steps: FitSteps,
): Promise<Fitted> {
  const { bytes } = upload;
  const fitted = async (id: string): Promise<Fitted> => {
    const letGo = context.cards.hold(id);
    try {
      await steps.sent?.(id);
      return { ...(await fit(context, request, task, { id, bytes }, hooks, steps)), uploadId: id };
    } finally {
      letGo();
    }
  };
  if (set === undefined) {
    return fitted(upload.id!);
  }
  const sent = await sendTrainSet(context, set, request, hooks, true);
  try {
    return await fitted(sent.id);
  } catch (thrown) {
    const { code } = toServiceError(thrown);
    if (!sent.reused || !(code === 'not_found' || code === 'validation.failed' || code === 'duplicate')) {
      throw thrown;
    }
    const again = await sendTrainSet(context, set, { ...request, forceReupload: true }, hooks, true);
    return fitted(again.id);
  }
}

async function fit(
  context: Context,
  request: AskedFit,
  task: Task,
  upload: { id: string; bytes: number },
  hooks: Hooks,
  steps: FitSteps,
): Promise<FitAnswer> {
  const { service } = context;
  const client = await service.client();
  const { thinking, systems, options, thinkingFolds } = request;
  const { signal } = hooks;
  const where = await service.backgroundFit(upload.bytes, signal);
  const following = followFit(context, upload.id, hooks);
  let pendingId: string | undefined;
  try {
    const answer = await service.reach.of(
      client.fit(
        {
          train_set_upload_id: upload.id,
          task,
          ...(systems !== undefined && systems.length > 0 && { svc_systems: systems as System[] }),
          ...(options !== undefined && Object.keys(options).length > 0 && { svc_config: options }),
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
            steps.pending?.(id, upload.id);
          },
        },
      ),
    );
    pendingId = answer.fitted_train_set_id;
    context.cards.removePending(pendingId);
    return { fittedId: pendingId, report: answer.report };
  } catch (thrown) {
    if (pendingId !== undefined && !leavesFitPending(toServiceError(thrown))) {
      context.cards.failPending(pendingId);
    }
    throw thrown;
  } finally {
    following.end();
  }
}
