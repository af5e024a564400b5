import { ServiceError, toServiceError } from '../../wire/service-error';
import type { Context } from '../context/context';
import type { PendingFit } from '../models/cards/card-sections';
import type { FitUnderWay } from '../models/cards/fits-under-way';
import { readCurves } from '../reference/read-curves';
import { readLosses } from '../reference/read-losses';
import type { Hooks } from '../types';
import { withThresholds } from './report/fit-threshold';
import { keepReference } from './report/keep-reference';
import { readReport } from './report/report';

/** The result of a fit, with what the specification does not have. */
export interface FitAnswer {
  fittedId: string;
  report?: unknown;
}

/** Whether the fit may still be running after this error. */
export function leavesFitPending(error: ServiceError): boolean {
  return error.code !== 'fit.failed';
}

/**
 * The answer to a fit that was pending when last heard of; undefined if the service no longer knows it, so that it
 * must be requested again.
 */
export async function resumedFit(
  context: Context,
  pending: PendingFit,
  hooks: Hooks,
): Promise<FitAnswer | undefined> {
  const { fitted_train_set_id: id } = pending.card;
  try {
    const answer = await context.service.resumeFit(id, { signal: hooks.signal });
    context.cards.removePending(id);
    return answer === undefined ? undefined : { fittedId: id, report: answer.report };
  } catch (thrown) {
    const error = toServiceError(thrown);
    if (!leavesFitPending(error)) {
      context.cards.failPending(id);
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
export async function takeUpFit(
  context: Context,
  pending: PendingFit,
  underWay: FitUnderWay,
  hooks: Hooks,
): Promise<void> {
  try {
    const fitted = await resumedFit(context, pending, hooks);
    if (fitted === undefined) {
      throw new ServiceError('fit.failed', 'The service does not know the fit that was under way any more.');
    }
    const { card, fingerprint, threshold } = pending;
    const reference = await context.cards.reference(fitted.fittedId);
    const curves = readCurves(fitted.report);
    const losses = readLosses(fitted.report, { inTime: card.order === 'time' });
    await keepReference(context, fitted.fittedId, reference, { curves, losses });
    const done = { ...card, fitted_at: new Date().toISOString(), ...readReport(fitted.report) };
    const costs = card.costs as Record<string, unknown> | undefined;
    underWay.done(withThresholds(context, done, { costs, threshold }, curves, hooks), fingerprint);
    await context.cards.flush();
  } catch (thrown) {
    const error = toServiceError(thrown);
    underWay.failed(error);
    if (error.code !== 'closed') {
      hooks.onWarning?.(`The fit of "${pending.card.name}", which was under way before: ${error.message}`);
    }
  }
}
